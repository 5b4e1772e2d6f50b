"""One module per kind of model. All modules in this folder are imported with it, and register themselves."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
