"""`wfalens data list`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.output import print_json, print_table

data_cli = typer.Typer(
    no_args_is_help=True, add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
)


@data_cli.callback()
def _about() -> None:
    """Data sets by name."""


@data_cli.command("list")
def list_cli(data: opt.Data = None, as_json: opt.Json = False) -> None:
    """List the data sets by name, and whether they are here.

    Options such as --corpus take these names. Some sets need files in the data folder (--data or WFALENS_DATA).
    """
    found = list_datasets(data)
    if as_json:
        print_json(found)
        return
    print_table(
        "Data sets",
        ["name", "splits", "here", "about"],
        [
            [
                each["name"],
                ", ".join(each["splits"]),
                "yes" if each["available"] else f"needs {each['needs']} in the data folder",
                each["about"],
            ]
            for each in found
        ],
    )


def list_datasets(data: Path | None = None) -> list[dict[str, Any]]:
    """The known data sets, and whether each is bundled or in the folder `data`."""
    from wfalens.text.datasets.catalogue import DATASETS, is_available

    return [
        {
            "name": dataset.name,
            "about": dataset.about,
            "splits": list(dataset.splits),
            "available": is_available(dataset.name, data),
            "needs": dataset.file,
        }
        for dataset in DATASETS.values()
    ]
