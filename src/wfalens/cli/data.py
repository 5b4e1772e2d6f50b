"""`wfalens data list`."""

from __future__ import annotations

import typer

from wfalens.cli.app import app
from wfalens.cli.common import DataOption, JsonOption, print_json, print_table
from wfalens.corpus.datasets import DATASETS, is_available

data_app = typer.Typer(no_args_is_help=True, help="Data sets by name.")
app.add_typer(data_app, name="data")


@data_app.command("list")
def list_datasets(data: DataOption = None, as_json: JsonOption = False) -> None:
    """List the data sets that --corpus knows by name, and whether they are here."""
    rows = [
        {
            "name": dataset.name,
            "about": dataset.about,
            "splits": list(dataset.splits),
            "available": is_available(dataset.name, data),
            "needs": dataset.file,
        }
        for dataset in DATASETS.values()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        "Data sets",
        ["name", "splits", "here", "about"],
        [
            [
                str(row["name"]),
                ", ".join(DATASETS[str(row["name"])].splits),
                "yes" if row["available"] else f"needs {row['needs']} in --data",
                str(row["about"]),
            ]
            for row in rows
        ],
    )
