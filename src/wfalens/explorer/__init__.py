"""A local web application in which one can type: the views of `wfalens.inspection` behind a small server."""

from wfalens.explorer.server import serve

__all__ = ["serve"]
