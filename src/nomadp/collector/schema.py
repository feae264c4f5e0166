"""The tables of a store, the same in SQLite and in PostgreSQL.

Reports are keyed by their random ids and not numbered, so that their order tells nothing of
when they came in. Of a report whose retention has passed the id stays, without its value.
"""

__all__ = ["SCHEMA_VERSION", "TABLES", "statements"]

SCHEMA_VERSION = 1

TABLES = {
    "about": "name TEXT PRIMARY KEY, said TEXT NOT NULL",
    "token": "role TEXT PRIMARY KEY, sha256 TEXT NOT NULL",
    "task": "number BIGINT PRIMARY KEY, id TEXT UNIQUE NOT NULL, content BLOB NOT NULL, "
    "locations BLOB NOT NULL, book BLOB NOT NULL, closed BIGINT NOT NULL DEFAULT 0",
    # To be drawn: no hash names them, and no device asks for them.
    "outline": "task BIGINT PRIMARY KEY, content BLOB NOT NULL",
    "report": "task BIGINT NOT NULL, id BLOB NOT NULL, epoch BIGINT NOT NULL, value BLOB, "
    "PRIMARY KEY (task, id)",
    # How often each released number came in. `part` is of a writer: those that write side by
    # side must not wait for each other's rows; readers add the parts up.
    "cell": "task BIGINT NOT NULL, epoch BIGINT NOT NULL, value BIGINT NOT NULL, "
    "part BIGINT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (task, epoch, value, part)",
    "counter": "task BIGINT NOT NULL, reason TEXT NOT NULL, part BIGINT NOT NULL, "
    "n BIGINT NOT NULL, PRIMARY KEY (task, reason, part)",
    "job": "id TEXT PRIMARY KEY, task BIGINT NOT NULL, question BLOB NOT NULL, answer BLOB",
}


def statements(*, sqlite: bool) -> list[str]:
    """What makes the tables where they are missing."""
    made = []
    for name, columns in TABLES.items():
        text = columns if sqlite else columns.replace("BLOB", "BYTEA")
        # Without row ids, which would count up as rows come in.
        ends = " WITHOUT ROWID" if sqlite else ""
        made.append(f"CREATE TABLE IF NOT EXISTS {name} ({text}){ends}")
    return made
