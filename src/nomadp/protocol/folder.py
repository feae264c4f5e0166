"""A task as a folder of files, which an operator publishes and anybody can check."""

from pathlib import Path

from nomadp.errors import TaskRefused
from nomadp.formats.atomic import write_atomically
from nomadp.mechanisms.atlas import PinnedCodebooks
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.ceilings import TASK_BYTES_MAX
from nomadp.protocol.public_files import FILE_BYTES_MAX, parse_atlas
from nomadp.protocol.task import Task
from nomadp.zones import Zones

__all__ = ["FILE_NAMES", "TASK_FILE", "read_codebook", "read_task_folder", "write_task_folder"]

TASK_FILE = "task.json"
FILE_NAMES = {"locations": "locations.csv", "atlas": "atlas.json", "zones": "zones.json"}
"""File names by the names below the task's URL."""


def write_task_folder(path: Path, bundle: TaskBundle) -> Path:
    """Write all files or none, the task last; files of another kind of task are removed."""
    path.mkdir(parents=True, exist_ok=True)
    contents = {FILE_NAMES[name]: content for name, content in bundle.files.items()}
    contents[TASK_FILE] = bundle.task.content
    if isinstance(bundle.domain, Zones) and bundle.domain.polygons:
        contents |= _outlines(bundle)
    writes = {
        path / name: lambda part, content=content: part.write_bytes(content)
        for name, content in contents.items()
    }
    write_atomically(writes)  # type: ignore[arg-type]  # a lambda has no types
    for name in {*FILE_NAMES.values(), "outlines.geojson"} - set(contents):
        (path / name).unlink(missing_ok=True)
    return path


def _outlines(bundle: TaskBundle) -> dict[str, bytes]:
    from nomadp.protocol.outlines import OUTLINES_FILE, checked_outlines  # only for maps

    content = checked_outlines(bundle)
    return {} if content is None else {OUTLINES_FILE: content}


def read_task_folder(path: Path, expected_id: str | None = None) -> TaskBundle:
    """Read a task and its files, checked like those from an untrusted source."""
    task = Task.from_bytes(_content(path / TASK_FILE, TASK_BYTES_MAX), expected_id)
    names = ("locations", "zones" if task.is_oracle else "atlas")
    files = {name: _content(path / FILE_NAMES[name], FILE_BYTES_MAX) for name in names}
    return TaskBundle.from_files(task, files)


def read_codebook(path: Path) -> PinnedCodebooks:
    """Read a codebook: atlas.json of a task, or a file of ``nomadp codebook build``."""
    if path.suffix == Path(FILE_NAMES["atlas"]).suffix:
        return parse_atlas(_content(path, FILE_BYTES_MAX))
    from nomadp.formats.codebook_files import read_codebooks  # devices read no Parquet

    return read_codebooks(path)


def _content(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise TaskRefused(
            f"a task folder must contain {path.name}, but {path.parent} does not",
            code="task_file_missing",
            files=[path.name],
        ) from None
    if len(content) > most:
        raise TaskRefused(
            f"{path.name} must have at most {most} bytes, but is larger",
            code="task_file_too_large",
            file=path.name,
            limit=most,
        )
    return content
