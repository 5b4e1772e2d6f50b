"""Tables of the documentation, made from the stored results of benchmarks."""

from report_tables import explanation, fidelity, performance, published, readable, repair, strings, verification
from report_tables.pages import PART, pages_with_tables, rewritten
from report_tables.writing import TABLES

__all__ = ["PART", "TABLES", "pages_with_tables", "rewritten"]
__all__ += ["explanation", "fidelity", "performance", "published", "readable", "repair", "strings", "verification"]
