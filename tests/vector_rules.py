"""The sections of docs/ that state the rules behind each test vector, with anchors.

`protocol.md` has everything that another implementation of a device or a collector needs. Other
mechanisms, and what only experiments need, are explained elsewhere.
"""

WIRE = ("atlas", "trips", "starts", "ends", "visits")
GUIDE = {
    "exp": "exp-every-point-by-the-exponential-mechanism",
    "brr": "brr-l-srr-every-point-by-rank",
    "l-srr": "brr-l-srr-every-point-by-rank",
    "tp": "tp-pivot-sampling",
    "atp": "atp-pivot-sampling-in-a-disc",
    "ngram": "ngram-overlapping-pairs-of-regions",
    "atlas": "atlas-one-codeword-from-a-public-codebook",
    "trips": "trips-starts-ends-visits-frequency-oracles",
    "visits": "trips-starts-ends-visits-frequency-oracles",
    "starts": "trips-starts-ends-visits-frequency-oracles",
    "ends": "trips-starts-ends-visits-frequency-oracles",
    "RandomizedResponse": "randomized-response",
    "Exponential": "the-exponential-mechanism",
    "TableExponential": "the-exponential-mechanism",
    "SquareWave": "the-square-wave",
    "Subset": "subset-response",
    "Staircase": "subset-response",
    "half_widths": "the-square-wave",
    "granularities": "tp-pivot-sampling",
    "radii": "atp-pivot-sampling-in-a-disc",
    "near_counts": "brr-l-srr-every-point-by-rank",
    **dict.fromkeys(("book", "walks", "uniforms"), "atlas-one-codeword-from-a-public-codebook"),
}
SIMPLE = {
    "canonical": ["canonical-json"],
    "refused_canonical": ["canonical-json"],
    "task": ["canonical-json", "task-members", "task-id"],
    "resampled": ["resampling"],
    "heaviest_weights": ["weights", "atlas"],
    "label_laws": ["weights", "choosing-the-law"],
    "supports": ["projective-response", "supports"],
}
REFUSED = {
    **dict.fromkeys(("too_large", "fields", "length", "delete_counts"), "task-members"),
    **dict.fromkeys(("reports_per_contributor", "epsilon_in_all"), "task-members"),
    "min_batch_size": "task-members",
    **dict.fromkeys(("not_json", "not_canonical", "value_kind", "too_deep"), "canonical-json"),
    "half_character": "canonical-json",
    **dict.fromkeys(("wire_version", "mechanism", "mechanism_version"), "versions"),
    **dict.fromkeys(("params", "zones_rule", "when"), "mechanism-parameters"),
    "epsilon": "epsilon",
    "purpose": "purpose",
    "hash": "task-members",
    "salt": "base64url",
    **dict.fromkeys(("time_precision", "start", "end"), "times"),
    **dict.fromkeys(("retention", "send_within"), "times"),
    "id": "task-id",
}
FILES = {"locations": "locations-file", "atlas": "atlas-file", "zones": "zones-file"}
LAWS = {
    "SubsetSelection": "subset-selection",
    "ProjectiveResponse": "projective-response",
}


def rules_of(one):
    """The sections that a case depends on."""
    kind, ask = one["kind"], one["ask"]
    if kind in SIMPLE:
        return _page(*SIMPLE[kind])
    if kind in ("report", "many"):
        return _reports(one)
    if kind == "law" and ask["name"] == "Uniform":
        return _page("random-words")
    if kind == "law":
        return _guide(ask["name"])
    if kind == "atlas" or kind in GUIDE:
        return _guide(kind)
    return OTHERS[kind](one)


def _page(*anchors):
    return [f"protocol.md#{anchor}" for anchor in anchors]


def _guide(name):
    return [f"guides/mechanisms.md#{GUIDE[name]}"]


def _reports(one):
    name = one["ask"]["mechanism"]
    if one["kind"] == "many":
        return ["../tests/vectors/README.md#streams-of-words", *_guide(name)]
    if name not in WIRE:
        return _guide(name)
    if name == "atlas":
        return [*_page("distance", "random-words", "weights", "atlas"), *_guide(name)]
    return _page("zone-rules", "labels", "random-words", *_law(one["answer"]["steps"][-1]))


def _law(step):
    return "weights", "choosing-the-law", "label-draws", LAWS[step["law"]]


def _label_law(one):
    name = one["ask"]["name"]  # the chances of points of a space are stated where q is chosen
    chances = ["choosing-the-law"] if name == "ProjectiveResponse" else []
    return _page("weights", *chances, "label-draws", LAWS[name])


def _sent(one):
    steps = one["answer"]["steps"]
    law = ("weights", "atlas") if "weights" in steps[-1] and "law" not in steps[-1] else None
    drawn = law or ("labels", *_law(steps[-1]))
    first = "distance", "snapping", "resampling", "random-words"
    return _page("task-id", *first, *drawn, "value", "upload")


def _value_size(one):
    is_label = "atlas" not in one["ask"]["world"]
    return _page(*(["labels", "choosing-the-law"] if is_label else []), "value")


def _files(one):
    named = [FILES[name] for name in one["ask"].get("files", one["ask"]) if name in FILES]
    if one["answer"].get("refused") == "missing_file":
        return _page("files")
    return _page(*named)


def _upload(one):
    if one["answer"]["status"] != 200:
        return _page("upload", "problems")
    return _page("upload", "value", "failures")


def _task(one):
    rules = [REFUSED[one["answer"]["refused"]]]
    if rules == ["purpose"]:
        rules.append("forbidden-code-points")
    return _page(*rules)


OTHERS = {
    "label_law": _label_law,
    "sent": _sent,
    "value_size": _value_size,
    "public_files": _files,
    "refused_files": _files,
    "refused_upload": _upload,
    "refused_task": _task,
    "stream": lambda one: ["../tests/vectors/README.md#streams-of-words"],
}
