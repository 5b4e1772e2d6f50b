"""A local web application in which one can type: the views of `wfalens.report.views` behind a small server."""

from wfalens.report.server.serve import serve

__all__ = ["serve"]
