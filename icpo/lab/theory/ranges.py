"""Ranges that the settings of several theory experiments share."""

from typing import Annotated

from pydantic import Field

AtLeastTwo = Annotated[int, Field(ge=2)]
Share = Annotated[float, Field(ge=0, le=1)]
OpenShare = Annotated[float, Field(gt=0, lt=1)]
