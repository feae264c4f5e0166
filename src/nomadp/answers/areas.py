"""The areas of an estimate: single locations, or zones of them, with their centres."""

from dataclasses import dataclass
from typing import Any

from nomadp.errors import DomainError
from nomadp.formats.zone_files import GeoObject, is_geo, read_zones
from nomadp.inference.estimate import Floats
from nomadp.inference.oracle_shares import zones_for, zones_on
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.zones import Zones

__all__ = ["LOCATIONS", "Areas", "resolve_areas"]

LOCATIONS = "locations"
"""The rule of areas that are single locations."""


@dataclass(frozen=True, eq=False)
class Areas:
    """Locations, or zones of them."""

    locations: LocationSet
    zones: Zones | None
    """None: single locations."""

    @property
    def rule(self) -> str:
        return LOCATIONS if self.zones is None else self.zones.rule

    @property
    def names(self) -> tuple[str, ...]:
        return self.locations.ids if self.zones is None else self.zones.names

    @property
    def name_column(self) -> str:
        """The name of the column with the areas' names."""
        return "location_id" if self.zones is None else "zone"

    @property
    def centres(self) -> tuple[Floats, Floats]:
        """Latitudes and longitudes, one for each area."""
        if self.zones is None:
            return self.locations.lat, self.locations.lng
        return self.zones.centres()


def resolve_areas(
    mechanism: Mechanism, areas: str | Zones | GeoObject | None, default: str
) -> Areas:
    """The areas of a query; by default the zones of the frequency oracle, or ``default``."""
    locations = mechanism.locations
    if is_geo(areas):
        areas = read_zones(areas, locations)
    if not isinstance(areas, str | Zones | None):
        raise DomainError(
            "areas must be a rule such as grid:16, Zones of the same location set or a "
            f"GeoDataFrame of polygons, got {type(areas).__name__}; read a file of polygons "
            "with nomadp.formats.zone_files.read_zones",
            code="areas_of_wrong_type",
            type=type(areas).__name__,
        )
    if isinstance(mechanism, FrequencyOracle):
        partition = mechanism.partition
        if areas == LOCATIONS:
            raise DomainError(
                f"areas must be {partition.rule} or larger zones made of them, which is what "
                f"reports of {mechanism.name} contain, got locations",
                code="locations_not_queried",
                mechanism=mechanism.name,
                zones=partition.rule,
            )
        if areas is None or areas == partition.rule:
            return Areas(locations, partition)
        return Areas(locations, zones_for(mechanism, areas))
    rule: Any = default if areas is None else areas
    return Areas(locations, None if rule == LOCATIONS else zones_on(locations, rule))
