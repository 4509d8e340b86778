"""What is said about a request, in the language of the turn; and of fields, in either."""

from __future__ import annotations

from collections.abc import Sequence

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.tools.parts import Suggestion
from app.fields.definitions import Words
from app.fields.display import display
from app.skills.service_requests.parts import RequestSummaryPart, SummaryLine
from app.skills.service_requests.services.definitions import Question, RequestField
from app.skills.service_requests.workflow.next_step import Next
from app.skills.service_requests.workflow.state import OpenRequest, RequestState, Told
from app.text.bilingual import in_both
from app.text.normalize import fold

# Asked where a type has too few questions of its own: each of them fits whatever is wrong.
USUAL_QUESTIONS = (
    Question(
        ask=Words(
            en="When did this first occur, and has it happened before?",
            es="¿Cuándo pasó por primera vez, y ya había pasado antes?",
        )
    ),
    Question(
        ask=Words(
            en="What have you tried so far, and what happened?",
            es="¿Qué has intentado hasta ahora, y qué pasó?",
        )
    ),
    Question(
        ask=Words(
            en="Who or what cannot go on working until this is solved?",
            es="¿Quién o qué no puede seguir trabajando hasta que se resuelva?",
        )
    ),
)
MOST_CHIPS = 6


def ask_for(field: RequestField, language: str) -> str:
    """The question for a field that is answered in words."""
    label = field.field.label.text(language)
    if field.field.type == "checkbox":
        return _("%(label)s: yes or no?", label=label)
    if label.endswith("?"):
        return label
    return _("%(label)s?", label=label)


def point_back(field: RequestField, language: str) -> str:
    """What is said of a widget that was shown before and still waits."""
    label = field.field.label.text(language)
    if field.field.type == "file":
        return _("“%(label)s” is waiting for you above.", label=label)
    options = getattr(field.field, "options", ())
    if 0 < len(options) <= MOST_CHIPS:
        named = ", ".join(option.label.text(language) for option in options)
        return _("“%(label)s” is waiting for you above: %(options)s.", label=label, options=named)
    return _("“%(label)s” is waiting for you above; you can also answer in words.", label=label)


def point_to_widget(field: RequestField, language: str) -> str:
    """The line above a widget."""
    label = field.field.label.text(language)
    if field.field.type == "file":
        return _("Add it below: %(label)s.", label=label)
    if label.endswith("?"):
        return label
    return _("%(label)s: answer below.", label=label)


def point_to_card(missing: Sequence[RequestField], language: str) -> str:
    """The line above a card of several fields."""
    labels = (each.field.label.text(language).strip("¿?") for each in missing)
    return _("Still needed: %(names)s.", names="; ".join(labels))


def answered_all(answered: Sequence[tuple[RequestField, object]], language: str) -> str:
    """What the chat shows of a card of several fields that was answered."""
    lines = (
        f"{field.field.label.text(language).strip('¿?')}: {shown(field, value, language)}"
        for field, value in answered
    )
    return "✓ " + "; ".join(lines)


def cancelled(state: RequestState, language: str) -> str:
    """What is said of a request that was given up; named, as what was done above may be another."""
    if isinstance(state, OpenRequest):
        name = state.form.name.text(language)
        return _(
            "All right, I canceled the request that you had begun, “%(name)s”. It was not filed.",
            name=name,
        )
    return _("All right, I canceled the request that you had begun. It was not filed.")


def why(field: RequestField | None, language: str) -> str:
    """Why something is asked: what the field says of itself, else what everything is for."""
    told = field.field.help.text(language) if field else ""
    return told or _("So whoever handles it comes prepared and does not have to ask again.")


def shown(field: RequestField, value: object, language: str) -> str:
    """A value in words, on one line."""
    stored = None if value is False else value
    return display(field.field, stored, language).replace("\n", ", ")


def answered_line(field: RequestField, value: object, language: str) -> str:
    """What the chat shows of a field that was answered with its widget."""
    label = field.field.label.text(language).rstrip("?").lstrip("¿")
    return f"✓ {label}: {shown(field, value, language)}"


def details_of(state: OpenRequest, language: str) -> list[tuple[str, str]]:
    """Every value and answer of a request, as label and value."""
    with force_locale(language):
        rows = [(_("Type"), " / ".join(_path(state, language)))]
        for field in state.fields:
            told = state.told.get(field.field.name)
            if told is not None:
                rows.append(
                    (field.field.label.text(language), _shown_with_words(field, told, language))
                )
    return [*rows, *state.answers]


def _shown_with_words(field: RequestField, told: Told, language: str) -> str:
    """A value, and the words that are filed with it where they say more."""
    value = shown(field, told.value, language)
    says_more = fold(told.words).strip() not in ("", fold(value))
    quoted = " · " + _("You said: “%(words)s”", words=told.words) if says_more else ""
    if told.by == "usual":
        return _value_of(field, told, language)
    return (_("%(value)s (check this)", value=value) if told.is_inferred else value) + quoted


def details_in_both(state: OpenRequest) -> dict[str, list[tuple[str, str]]]:
    return in_both(lambda language: details_of(state, language))


def _path(state: OpenRequest, language: str) -> list[str]:
    return [each.text(language) for each in (*state.form.path, state.form.name)]


def summary_of(state: OpenRequest, language: str) -> RequestSummaryPart:
    """The request so far, with what is still missing and where each value came from."""
    lines = []
    for field in state.fields:
        told = state.told.get(field.field.name)
        lines.append(
            SummaryLine(
                field_id=field.field_id,
                label=field.field.label.text(language),
                value=_value_of(field, told, language) if told else "",
                words=told.words if told and told.by == "said" else "",
                is_inferred=bool(told and told.is_inferred),
                is_required=field.field.required,
                before=_before(field, told, language),
            )
        )
    return RequestSummaryPart(
        type_name=state.form.name.text(language),
        path=_path(state, language)[:-1],
        icon=state.form.icon,
        lines=lines,
        answers=list(state.answers),
    )


def _value_of(field: RequestField, told: Told, language: str) -> str:
    value = shown(field, told.value, language)
    return _("%(value)s (usual for this)", value=value) if told.by == "usual" else value


def _before(field: RequestField, told: Told | None, language: str) -> str:
    """What a value was corrected from, in words."""
    return shown(field, told.before, language) if told and told.before is not None else ""


def recorded(
    changes: Sequence[tuple[RequestField, object, object]],
    cleared: Sequence[RequestField],
    language: str,
) -> str:
    """What was taken: a new value as it is, a corrected one as old -> new; what that cleared."""
    lines = []
    for field, before, after in changes:
        label, value = field.field.label.text(language).rstrip("?"), shown(field, after, language)
        label = label.lstrip("¿")
        if before is None:
            lines.append(f"{label}: {value}")
        else:
            lines.append(f"{label}: {shown(field, before, language)} → {value}")
    said = [_("Noted. %(values)s.", values="; ".join(lines))] if lines else []
    if cleared:
        names = ", ".join(each.field.label.text(language) for each in cleared)
        said.append(_("That no longer applies, so I removed it: %(names)s.", names=names))
    return " ".join(said)


def offer_optional(step: Next, language: str) -> str:
    """The one offer of what was left out."""
    names = ", ".join(each.field.label.text(language) for each in step.fields)
    return _(
        "You can still add: %(names)s. Say which one, or “no” to see the summary.", names=names
    )


def name_optional(state: OpenRequest, language: str) -> str:
    """What was left out and can still be said, where nobody is asked for it."""
    names = ", ".join(each.field.label.text(language) for each in state.optional)
    return _("To add something, say what: %(names)s.", names=names)


def optional_chips(step: Next, language: str) -> list[Suggestion]:
    """A chip for each field that is offered, and one for none of them."""
    labels = [each.field.label.text(language) for each in step.fields][: MOST_CHIPS - 1]
    chips = [Suggestion(label=label, message=label) for label in labels]
    return [*chips, Suggestion(label=_("No, go on"), message=_("No"))]


def ways_out(field: RequestField, language: str) -> tuple[str, list[Suggestion]]:
    """What can be done about a field that is needed and was not answered."""
    label = field.field.label.text(language)
    again = Suggestion(label=_("Try again"), message=_("Try again"))
    cancel = Suggestion(label=_("Cancel the request"), message=_("Cancel the request"))
    if field.field.type == "file" and not field.field.required:
        said = _(
            "“%(label)s” can't be answered in words. Try again, skip it, or cancel the request.",
            label=label,
        )
        return said, [again, Suggestion(label=_("Skip it"), message=_("Skip it")), cancel]
    if field.field.type == "file":
        said = _("“%(label)s” is needed. Try again, or cancel the request.", label=label)
        return said, [again, cancel]
    said = _(
        "“%(label)s” is needed. Try again, tell me in words, or cancel the request.", label=label
    )
    return said, [again, cancel]
