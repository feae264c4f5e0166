"""docs/reference/http.md: the collector's endpoints, from its OpenAPI document."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nomadp

OPENAPI = Path(nomadp.__file__).parent / "collector" / "openapi.json"
METHODS = ("get", "put", "post", "delete")

ABOUT = """# HTTP

{description}

This page is generated from the OpenAPI document that a collector serves at `/openapi.json`.
[The protocol](../protocol.md) explains what devices send and why.
"""
ROLES = {
    "device": "Devices",
    "analyst": "Analysts",
    "operator": "Operators",
    "health": "Health",
    "pages": "Pages",
}


def endpoints(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                shared = operations.get("parameters", [])
                operation = {**operations[method]}
                operation["parameters"] = [*shared, *operation.get("parameters", [])]
                yield method.upper(), path, operation


def resolved(part: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """A part of the document, with a reference (`$ref`) replaced by its target."""
    if "$ref" not in part:
        return part
    target: Any = document
    for name in part["$ref"].removeprefix("#/").split("/"):
        target = target[name]
    return resolved(target, document)


def kind(schema: dict[str, Any]) -> str:
    """A short description of a schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(kind(part) for part in schema[several]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    named = schema.get("type", "anything")
    if named == "array":
        return "list of " + kind(schema.get("items", {}))
    rules = [
        f"{phrase} {schema[key]}"
        for key, phrase in BOUNDS.items()
        if key in schema and key != "pattern"
    ]
    if "pattern" in schema:
        rules.append(f"`{schema['pattern']}`".replace("|", "\\|"))
    text = " or ".join(named) if isinstance(named, list) else str(named)
    return f"{text}, {', '.join(rules)}" if rules else text


BOUNDS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "minLength": "at least",
    "maxLength": "at most",
    "minItems": "at least",
    "maxItems": "at most",
    "pattern": "",
}


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell or " " for cell in row) + " |\n" for row in lines)


def of_endpoint(method: str, path: str, operation: dict[str, Any], document: Any) -> str:
    text = [f"### `{method} {path}`\n"]
    sentences = [operation.get("summary", ""), operation.get("description", "")]
    roles = [role for need in operation.get("security", []) for role in need]
    if roles:
        sentences.append(f"Requires the {' or '.join(roles)} token.")
    text.append(" ".join(filter(None, sentences)) + "\n")
    inputs = [resolved(part, document) for part in operation["parameters"]]
    if inputs:
        rows = [
            [
                f"`{parameter['name']}`",
                parameter["in"] + (", required" if parameter.get("required") else ""),
                kind(parameter.get("schema", {})),
                parameter.get("description", ""),
            ]
            for parameter in inputs
        ]
        text.append(table(["parameter", "in", "type", "description"], rows))
    body = resolved(operation.get("requestBody", {}), document)
    for media, content in body.get("content", {}).items():
        about = body.get("description", "")
        text.append(
            f"Body: `{media}`, {kind(content.get('schema', {}))}. {about}".strip() + "\n"
        )
    answers = sorted(operation["responses"].items())
    rows = [[code, *answer_row(answer, document)] for code, answer in answers]
    text.append(table(["status", "description", "body"], rows))
    return "\n".join(text)


def answer_row(answer: dict[str, Any], document: dict[str, Any]) -> list[str]:
    answer = resolved(answer, document)
    bodies = [
        f"`{media}` {kind(content.get('schema', {}))}"
        for media, content in answer.get("content", {}).items()
    ]
    return [answer.get("description", ""), "; ".join(bodies)]


def of_schema(name: str, schema: dict[str, Any]) -> str:
    text = [f"### {name}\n"]
    if "description" in schema:
        text.append(schema["description"] + "\n")
    required = set(schema.get("required", []))
    rows = [
        [f"`{key}`", "yes" if key in required else "no", kind(of), of.get("description", "")]
        for key, of in schema.get("properties", {}).items()
    ]
    text.append(
        table(["member", "required", "type", "description"], rows)
        if rows
        else kind(schema) + "\n"
    )
    return "\n".join(text)


def page() -> str:
    document = json.loads(OPENAPI.read_text(encoding="utf-8"))
    parts = [ABOUT.format(description=document["info"]["description"])]
    operations = list(endpoints(document))
    tags = dict.fromkeys(tag for _, _, operation in operations for tag in operation["tags"])
    for tag in tags:
        parts.append(f"## {ROLES.get(tag, tag.capitalize())}\n")
        parts += [
            of_endpoint(method, path, operation, document)
            for method, path, operation in operations
            if operation["tags"][0] == tag
        ]
    parts.append("## Objects\n")
    schemas = document["components"]["schemas"]
    parts += [of_schema(name, schema) for name, schema in schemas.items()]
    return "\n".join(parts)
