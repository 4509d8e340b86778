"""What the tools of service requests take."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.assistant.tools.tool import Arguments
from app.fields.definitions import MOST_FIELDS
from app.skills.service_requests.services.definitions import MOST_QUESTIONS

LONGEST_SAID = 4_000
# With the fields that every type has beside its own.
MOST_VALUES = 2 * MOST_FIELDS
# Of all the fields of a request together.
MOST_FILES = 1_000
MOST_FACTS = 20
EXAMPLES = Path(__file__).with_name("examples.yaml")
STEP_EXAMPLES = Path(__file__).with_name("step_examples.yaml")


class QuestionAnswer(BaseModel):
    """A clarifying question and its answer."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    question: str = Field(min_length=1, max_length=500)
    answer: str = Field(min_length=1, max_length=2_000)


class FileReference(BaseModel):
    """A file that was added with a widget."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(max_length=300)
    name: str = Field(max_length=300)
    size: int = Field(ge=0)


class SuggestArguments(Arguments):
    user_query: str = Field(
        min_length=1, max_length=LONGEST_SAID, description="What the person wants, word by word."
    )


class TypeArguments(Arguments):
    type_id: UUID = Field(description="The type that the person chose.")


class FieldArguments(Arguments):
    field_id: UUID = Field(description="A field of the open request.")


class RecordArguments(Arguments):
    """What was said: by values that somebody has read already, or by the words themselves."""

    values: dict[str, Any] | None = Field(
        None,
        max_length=MOST_VALUES,
        description="Values by field_id, only what the person said. Options by their value, days"
        " as YYYY-MM-DD, an address as {line1, line2, city, state, postal, country}.",
    )
    said: str = Field("", max_length=LONGEST_SAID, description="Leave empty where you give values.")
    skipped: list[str] | None = Field(
        None,
        max_length=MOST_VALUES,
        description="The field_ids of optional fields that the person does not want to fill.",
    )
    questions_answers: list[QuestionAnswer] | None = Field(
        None,
        max_length=MOST_QUESTIONS,
        description="The clarifying question that you asked, and what the person answered.",
    )
    no_more_questions: bool = Field(
        False, description="The person wants no more clarifying questions."
    )
    resolved: bool | None = Field(
        None, description="The person's yes or no to whether the proposed solution helped."
    )
    go_on: bool = Field(False, description="The person goes on with the request that is open.")
    show: bool = Field(False, description="The person wants to see the request so far.")


class EvaluateArguments(Arguments):
    type_id: UUID | None = None
    form_data: dict[str, Any] | None = Field(
        None, max_length=MOST_VALUES, description="Values by field_id."
    )
    questions_answers: list[QuestionAnswer] | None = Field(None, max_length=MOST_QUESTIONS)


class SubmitArguments(Arguments):
    """`thread_id` and `begun_at` say which conversation and which request of it: the server's."""

    type_id: UUID | None = None
    form_data: dict[str, Any] | None = Field(
        None, max_length=MOST_VALUES, description="Values by field_id."
    )
    questions_answers: list[QuestionAnswer] | None = Field(None, max_length=MOST_QUESTIONS)
    ai_resolution: dict[str, Any] | None = Field(
        None, max_length=MOST_FACTS, description="Leave it out; it is set."
    )
    file_references: list[FileReference] | None = Field(None, max_length=MOST_FILES)
    thread_id: UUID | None = Field(None, description="Leave it out; it is set.")
    begun_at: UUID | None = Field(None, description="Leave it out; it is set.")
    digest: str = Field("", max_length=64, description="Leave it out; it is set.")


class CancelArguments(Arguments):
    pass
