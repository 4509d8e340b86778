"""Links as endpoint and arguments: what is stored of them, and what a tool returns.

Pure: no request, no app. `app.web.urls` makes URLs of them where something is shown.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Link(BaseModel):
    """A page of Comanda: its endpoint, by its full name, and the arguments as text.

    Links are stored with messages and receipts: an endpoint that they name keeps its name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str
    arguments: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def to(cls, endpoint: str, **arguments: object) -> Link:
        """The link to an endpoint with these arguments; those that are None are left out."""
        given = {name: str(value) for name, value in arguments.items() if value is not None}
        return cls(endpoint=endpoint, arguments=given)


# Where something leads: nowhere where it is empty. Earlier versions stored the URL itself.
Target = Link | str
