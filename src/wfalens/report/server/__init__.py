"""A local web application in which one can type: the views of `wfalens.report.views` behind a small server."""

from wfalens.report.server.serve import serve, serve_study

__all__ = ["serve", "serve_study"]
