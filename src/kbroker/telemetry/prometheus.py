"""The text format that Prometheus scrapes, version 0.0.4, as a pure function."""

from kbroker.telemetry.registry import Labels, Registry

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def render(registry: Registry, prefix: str = "kbroker_") -> str:
    """All meters of ``registry`` as one page; every name gets ``prefix``."""
    lines: list[str] = []
    for family in registry.families():
        name = prefix + family.name
        documentation = family.documentation.replace("\\", "\\\\").replace("\n", "\\n")
        lines.append(f"# HELP {name} {documentation}")
        lines.append(f"# TYPE {name} {family.kind.value}")
        lines.extend(
            f"{prefix}{sample.name}{_labels(sample.labels)} {_number(sample.value)}"
            for sample in family.samples()
        )
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: int | float) -> str:
    if isinstance(value, float):
        # Prometheus spells infinity its own way; Python's other floats it understands.
        return {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}.get(repr(value), repr(value))
    return str(value)
