"""Settings that are read from files, such as secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

SECRETS = Path("/run/secrets")  # where containers find theirs
MOST_FILE_BYTES = 64 << 10


class NamedFiles(PydanticBaseSettingsSource):
    """DOWNLINK_X_FILE names the file that holds what DOWNLINK_X would: a secret in a variable is seen by too many."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - the base class's
        variable = f"DOWNLINK_{field_name.upper()}"
        path = os.environ.get(f"{variable}_FILE")
        if not path:
            return None, field_name, False
        if variable in os.environ:
            raise ValueError(f"{variable} and {variable}_FILE are both set: set one of them")
        return _read_short(variable, Path(path)), field_name, False

    def __call__(self) -> dict[str, Any]:
        values = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: value for name, value in values.items() if value is not None}


def _read_short(variable: str, path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ValueError(f"{variable}_FILE names {path}, which cannot be read: {why}") from None
    if len(content) > MOST_FILE_BYTES:
        raise ValueError(f"{variable}_FILE names {path}, which holds more than {MOST_FILE_BYTES} characters")
    return content.strip()
