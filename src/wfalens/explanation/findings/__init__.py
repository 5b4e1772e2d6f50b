"""What a classifier has learned and what it has not: probes of the model, and the claims that they support."""

from wfalens.explanation.findings.claims import Finding, FindingExample, Findings, findings

__all__ = ["Finding", "FindingExample", "Findings", "findings"]
