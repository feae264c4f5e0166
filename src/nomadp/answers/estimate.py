"""An answer: a small table that cannot be changed, and opens in every tool.

It subclasses no frame. It streams itself to whatever reads Arrow, and turns into frames and
files that say how it was made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.columns import Column, as_columns
from nomadp.answers.description import as_about
from nomadp.answers.estimate_files import flowmap_writes, read, table_writes
from nomadp.answers.frames import from_arrow, to_arrow, to_geopandas, to_pandas, to_polars
from nomadp.answers.geometry import value_column
from nomadp.answers.numbers import decimals_of
from nomadp.answers.shapes import Shapes
from nomadp.errors import SchemaError
from nomadp.formats.arrow_objects import ArrowObject
from nomadp.formats.atomic import written_whole
from nomadp.formats.measured_file import AnyPath

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KINDS", "Estimate"]

KINDS = ("hotspots", "density", "flows", "trajectories", "lengths", "synthetic")


@dataclass(frozen=True, eq=False)
class Estimate:
    """Columns of equal length, and what is to be known about them.

    >>> from nomadp.answers import Estimate
    >>> column = {"location_id": ["a", "b"], "lat": [52.5, 52.6], "lng": [13.4, 13.5]}
    >>> answer = Estimate("hotspots", {**column, "share": [0.7, 0.3]}, {"epsilon": "4"})
    >>> answer.write("hot.geojson")
    >>> Estimate.read("hot.geojson")["share"].tolist()
    [0.7, 0.3]
    """

    kind: str
    """Which question it answers: one of `KINDS`."""
    columns: Mapping[str, Any]
    """Numbers as arrays, text as tuples, all of one length."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Epsilon, mechanism, number of reports and so on: what JSON can say."""
    shapes: Shapes | None = None
    """What rows look like on a map; without, they are points at lat and lng."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(
                f"an answer must be one of {', '.join(KINDS)}, got {str(self.kind)[:80]}",
                code="unknown_answer_kind",
            )
        object.__setattr__(self, "columns", as_columns(self.columns))
        object.__setattr__(self, "about", as_about(self.about))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Any:
        try:
            return self.columns[name]
        except KeyError:
            known = ", ".join(self.columns)
            raise KeyError(f"{self.kind} have the columns {known}, not {name}") from None

    @cached_property
    def decimals(self) -> int | None:
        """How many digits after the point its shares have in percent, where people read."""
        return decimals_of(self.columns)

    def __repr__(self) -> str:
        told = [f"{key}={self.about[key]}" for key in _TOLD if key in self.about]
        return f"Estimate({', '.join([self.kind, f'{len(self)} rows', *told])})"

    def _repr_html_(self) -> str:
        from nomadp.answers.notebook import notebook_html  # draws, which few need

        return notebook_html(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream

    def to_arrow(self, *, geometry: bool = False) -> "pa.Table":
        """A table of Arrow, described in its metadata; with ``geometry`` in WKB if asked."""
        return to_arrow(self, geometry=geometry)

    def to_pandas(self) -> Any:
        """A plain frame; its ``attrs`` say how it was made."""
        return to_pandas(self)

    def to_polars(self) -> Any:
        """A plain frame, which has no place for how it was made."""
        return to_polars(self)

    def to_geopandas(self) -> Any:
        """A frame whose geometry is in EPSG:4326: points, outlines of areas, lines of flows."""
        return to_geopandas(self)

    @classmethod
    def from_arrow(cls, data: ArrowObject, like: "Estimate | None" = None) -> "Estimate":
        """Back from what streams to Arrow: Arrow itself, pandas, polars, GeoPandas, DuckDB.

        ``like`` is an answer whose kind and facts the rows have, where a frame forgot its own.
        """
        return cls(*from_arrow(data, like))

    def write(
        self, path: AnyPath, *, geometry: bool | None = None, flowmap: bool = False
    ) -> None:
        """A file as ``path`` ends: .csv, .csv.gz, .parquet, .geoparquet or .geojson.

        ``geometry`` makes .parquet GeoParquet, too. ``flowmap`` writes flows as flowmap.blue
        reads them, `origin,dest,count`, and beside them their places as `NAME.locations.csv`.
        """
        if flowmap:
            written_whole(flowmap_writes(path, self))
        else:
            writes = table_writes(path, self, geometry=geometry)
            written_whole(writes, writes if self.is_per_report else ())

    @property
    def is_per_report(self) -> bool:
        """Whether rows are of single reports; a file of them is for its owner alone."""
        return self.kind == "trajectories"

    @classmethod
    def read(cls, path: AnyPath, like: "Estimate | None" = None) -> "Estimate":
        """What `write` wrote, but for flow maps; ``like`` as in `from_arrow`."""
        return cls(*read(path, like))

    def ranked(self) -> "Estimate":
        """The largest share first; all times together come before each time."""
        value = value_column(self.columns)
        if ("rank" not in self.columns and "origin" not in self.columns) or not len(self):
            return self
        when = self.columns.get("when", ("",) * len(self))
        groups = {name: k for k, name in enumerate(dict.fromkeys(when))}
        group = np.array([groups[name] for name in when])
        order = np.lexsort((-np.asarray(self[value]), group))
        return self.rows(order.tolist())

    def rows(self, at: Sequence[int]) -> "Estimate":
        """Some of the rows, in this order."""
        picked: dict[str, Column] = {
            name: tuple(each[k] for k in at) if isinstance(each, tuple) else each[list(at)]
            for name, each in self.columns.items()
        }
        return Estimate(self.kind, picked, self.about, self.shapes)


_TOLD = ("epsilon", "mechanism", "reports")
