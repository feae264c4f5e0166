"""The result of a query: a small immutable table that opens in every tool.

It is not a subclass of a data frame. It streams itself to any library that reads Arrow, and
converts to frames and files that include the facts in ``about``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.answers.columns import Column, frozen_columns
from nomadp.answers.description import frozen_about
from nomadp.answers.estimate_files import flowmap_writes, read, table_writes
from nomadp.answers.frames import from_arrow, to_arrow, to_geopandas, to_pandas, to_polars
from nomadp.answers.geometry import value_column
from nomadp.answers.numbers import decimals_of
from nomadp.answers.shapes import Shapes
from nomadp.errors import SchemaError
from nomadp.formats.arrow_objects import ArrowObject
from nomadp.formats.atomic import write_atomically
from nomadp.formats.measured_file import AnyPath

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KINDS", "Estimate"]

KINDS = ("hotspots", "density", "flows", "trajectories", "lengths", "synthetic")


@dataclass(frozen=True, eq=False)
class Estimate:
    """The result of a query: columns of equal length, and facts about them.

    >>> from nomadp.answers import Estimate
    >>> column = {"location_id": ["a", "b"], "lat": [52.5, 52.6], "lng": [13.4, 13.5]}
    >>> answer = Estimate("hotspots", {**column, "share": [0.7, 0.3]}, {"epsilon": "4"})
    >>> answer.write("hot.geojson")
    >>> Estimate.read("hot.geojson")["share"].tolist()
    [0.7, 0.3]
    """

    kind: str
    """The kind of estimate: one of `KINDS`."""
    columns: Mapping[str, Any]
    """Numbers as arrays, text as tuples, all of one length."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Epsilon, mechanism, number of reports and other facts, as JSON values."""
    shapes: Shapes | None = None
    """The outlines of areas and the places of flows; None if the columns have lat and lng."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(
                f"the kind of an estimate must be one of {', '.join(KINDS)}, got "
                f"{str(self.kind)[:80]}",
                code="unknown_answer_kind",
            )
        object.__setattr__(self, "columns", frozen_columns(self.columns))
        object.__setattr__(self, "about", frozen_about(self.about))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Any:
        try:
            return self.columns[name]
        except KeyError:
            names = ", ".join(self.columns)
            raise KeyError(f"{self.kind} have the columns {names}, not {name}") from None

    @cached_property
    def decimals(self) -> int | None:
        """The number of decimals of shares shown in percent; None without intervals."""
        return decimals_of(self.columns)

    def __repr__(self) -> str:
        facts = [f"{key}={self.about[key]}" for key in _REPR_FACTS if key in self.about]
        return f"Estimate({', '.join([self.kind, f'{len(self)} rows', *facts])})"

    def _repr_html_(self) -> str:
        from nomadp.answers.notebook import notebook_html  # slow to import

        return notebook_html(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream

    def to_arrow(self, *, geometry: bool = False) -> "pa.Table":
        """Convert to an Arrow table, with kind and facts in its metadata.

        ``geometry`` adds a column of well-known binary (WKB).
        """
        return to_arrow(self, geometry=geometry)

    def to_pandas(self) -> Any:
        """Convert to a pandas DataFrame, with kind and facts in its ``attrs``."""
        return to_pandas(self)

    def to_polars(self) -> Any:
        """Convert to a polars DataFrame, which cannot store the facts in ``about``."""
        return to_polars(self)

    def to_geopandas(self) -> Any:
        """Convert to a GeoDataFrame in EPSG:4326: points, outlines of areas, or flow lines."""
        return to_geopandas(self)

    @classmethod
    def from_arrow(cls, data: ArrowObject, like: "Estimate | None" = None) -> "Estimate":
        """Convert a table or frame back to an estimate.

        Args:
            data: A table of Arrow, or a frame of pandas, polars, GeoPandas or DuckDB.
            like: An estimate that provides kind and facts, if the frame could not store them.

        Returns:
            The estimate.

        Raises:
            SchemaError: Kind and facts are missing or malformed.
        """
        return cls(*from_arrow(data, like))

    def write(
        self, path: AnyPath, *, geometry: bool | None = None, flowmap: bool = False
    ) -> None:
        """Write the estimate to a file, completely or not at all.

        Args:
            path: The file, which ends in .csv, .csv.gz, .parquet, .geoparquet or .geojson.
            geometry: Whether a .parquet file has a column of geometry. The other formats always
                or never have one.
            flowmap: Write flows in the format of flowmap.blue: the columns origin, dest and
                count, and a second file NAME.locations.csv with the places.

        Raises:
            SchemaError: The suffix or an option does not fit the estimate.
        """
        if flowmap:
            write_atomically(flowmap_writes(path, self))
        else:
            writes = table_writes(path, self, geometry=geometry)
            write_atomically(writes, writes if self.is_per_report else ())

    @property
    def is_per_report(self) -> bool:
        """Whether rows describe single reports; then only the owner may read the file."""
        return self.kind == "trajectories"

    @classmethod
    def read(cls, path: AnyPath, like: "Estimate | None" = None) -> "Estimate":
        """Read a file that `write` wrote, except a flow map.

        Args:
            path: The file.
            like: An estimate that provides kind and facts, instead of those in the file.

        Returns:
            The estimate.

        Raises:
            SchemaError: The file does not contain an estimate.
        """
        return cls(*read(path, like))

    def ranked(self) -> "Estimate":
        """A copy with the largest share first.

        The rows of all times of day combined come before those of each time.
        """
        value = value_column(self.columns)
        if ("rank" not in self.columns and "origin" not in self.columns) or not len(self):
            return self
        when = self.columns.get("when", ("",) * len(self))
        group_of = {name: k for k, name in enumerate(dict.fromkeys(when))}
        group = np.array([group_of[name] for name in when])
        order = np.lexsort((-np.asarray(self[value]), group))
        return self.rows(order.tolist())

    def rows(self, at: Sequence[int]) -> "Estimate":
        """A copy with only the rows at these positions, in this order."""
        columns: dict[str, Column] = {
            name: tuple(column[k] for k in at)
            if isinstance(column, tuple)
            else column[list(at)]
            for name, column in self.columns.items()
        }
        return Estimate(self.kind, columns, self.about, self.shapes)


_REPR_FACTS = ("epsilon", "mechanism", "reports")
