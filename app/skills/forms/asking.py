"""Whether a message asks for a form, or tells of something that one may be wanted for. Pure."""

from __future__ import annotations

import re

from app.assistant.providers.builtin.slots import make_query
from app.assistant.providers.builtin.smalltalk import read_courtesy
from app.folding import fold, words

# "The form" is one; "form the patties" and "in the form of" are none.
_FORMS = frozenset("form forms formulario formularios planilla planillas".split())
_VERB_BEFORE = frozenset("to i we you they and then should can must in good top bad".split())
_NOT_AFTER = frozenset("of the a an into your it them each balls patties dough".split())
# What these ask is for the manual, even about a form; what those ask, only without one.
_ALWAYS_ASKS = re.compile(
    r"(?:when|why|who|whose|how (?:long|many|much|often)|what happens|cuando|por que|quien"
    r"|cuant\w+|que pasa)\b"
)
_ASKS = re.compile(
    r"(?:how|what|which|where|can [iw]e?|may i|do (?:i|we)|does|did|should|am i|is|are"
    r"|como|que|cual|donde|puedo|podemos|debo|tengo que|hay que|es|se puede)\b"
)
_A = r"(?:an?|the|my|our|this|that|another|new|some)"
_UN = r"(?:una?|el|la|mi|otr[oa]|est[ea]|nuev[oa])"
_PAPERS = (
    r"(?:reports?|logs?|checklists?|sheets?|write[ -]?ups?|complaints?|claims?|statements?"
    r"|declarations?|requests?|warnings?)"
)
_PAPELES = (
    r"(?:reportes?|informes?|formatos?|quejas?|denuncias?|solicitud(?:es)?|amonestacion(?:es)?"
    r"|actas?|declaracion(?:es)?|bitacoras?|listas? de verificacion)"
)
_HAPPENINGS = r"(?:incidents?|accidents?|injur(?:y|ies)|falls?|burns?|thefts?|near miss)"
_SUCESOS = r"(?:incidentes?|accidentes?|lesion(?:es)?|caidas?|quemaduras?|robos?)"
# What one tells somebody to do begins what one says: "Juan llena la hielera" tells of Juan.
_BEGINS = r"(?:^\W*|[.,;:!?]\s*|\b(?:y|por favor|porfa) )"
_WISHES = re.compile(
    "|".join(
        (
            r"\bfill(?:ing|ed)?(?: \w+){0,2} out\b",
            rf"\bfill(?:ing)? (?:in|up) (?:\w+ ){{0,4}}{_PAPERS}\b",
            r"\b(?:file|submit|complete|turn in|hand in|send in|start|make|create|do|document|write"
            rf"|put in|open|get|pull up|need|want|find|print) {_A} (?:\w+[ -]){{0,3}}{_PAPERS}\b",
            rf"\b(?:file|report|document|record) {_A} (?:\w+ ){{0,2}}(?:{_HAPPENINGS}|{_PAPERS})\b",
            r"(?:^|\b(?:to|please|pls|you|gotta|wanna|gonna|lets?|s|can|and) )write[ -]?up\b"
            r"(?! (?:i|that|says|policy|rules?))",
            r"\bwrit(?:e|ing) (?:him|her|them|\w+) up\b",
            r"\b(?:rellen|llen)(?:ar|o|e|es|amos|emos|arlo|arla)\b"
            rf" (?:{_UN} )?(?:\w+ ){{0,2}}(?:{_PAPELES}|{_SUCESOS})\b",
            r"\b(?:complet|present|levant|entreg|envi|mand|redact|document|registr|report)"
            rf"(?:ar|o|e|emos|ando) {_UN} (?:\w+ ){{0,2}}(?:{_PAPELES}|{_SUCESOS})\b",
            rf"{_BEGINS}(?:complet|present|levant|llen|mand|prepar|redact|registr|rellen)a(?:me)?"
            rf" {_UN} (?:\w+ ){{0,2}}(?:{_PAPELES}|{_SUCESOS})\b",
            rf"{_BEGINS}(?:haz(?:me)?|abre(?:me)?|escribe(?:me)?|inicia(?:me)?)"
            rf" {_UN} (?:\w+ ){{0,2}}{_PAPELES}\b",
            r"\b(?:hacer|hago|haga|meter|escribir|abrir|iniciar|necesito|quiero|busco)"
            rf" {_UN} (?:\w+ ){{0,2}}{_PAPELES}\b",
            r"\bamonest(?:ar|o|e|emos|arlo|arla|arlos|arlas)\b",
        )
    )
)
# No paper: what is put together in the chat, and by itself a request is one of these.
_SERVICE = re.compile(
    r"\b(?:service|maintenance|it|repair|work|support) (?:request|ticket)s?\b"
    r"|\b(?:an?|another|new) request$|\b(?:una|otra|nueva) solicitud$"
    r"|\bsolicitud(?:es)? de (?:servicio|mantenimiento|soporte|sistemas|reparacion)\b"
)
# What is said about wanting a form, and not about which one.
_ASKING = frozenset(
    "need needs want file filing fill submit complete document documenting report reporting record"
    " form forms make create start write open print find turn hand send show get want let please"
    " necesito quiero llenar rellenar completar presentar levantar entregar enviar documentar"
    " reportar registrar hacer reporte informe formulario formularios formato planilla busco"
    " muestrame dame abrir escribir".split()
)
# What one does with a form, whatever it is called; with a hielera, one does the same.
_OPENS = re.compile(
    rf"\b(?:(?:re)?llen(?:ar|o|emos)|abrir)\b|{_BEGINS}(?:(?:re)?llena|abre)(?:me)?\b"
    r"|\b(?:fill(?:ing)? (?:in|up|out)|open|start)\b"
)
_EVENTS = re.compile(
    r"\b(?:hurts?|injur\w+|cut|burn(?:ed|t)|fell|slipped|tripped|broke|broken|leak\w*|stopped"
    r"|not working|isn ?t working|won ?t \w+|is down|complain\w*|angry|upset|stole|stolen|missing"
    r"|late|no[ -]?show\w*|spilled|dropped|threw|wasted|spoiled|lastim\w+|se cort\w+|se quem\w+"
    r"|se cayo|se resbal\w+|se rompio|se descompuso|descompuest\w+|no (?:funciona|prende|enfria)"
    r"|fuga|se quej\w+|molest[oa]|robaron|falto|tarde|se derramo|se echo a perder|tiramos)\b"
)


def asks_for_form(message: str) -> bool:
    """True when the message asks, in so many words, for a form to be filled in."""
    said = read_courtesy(message).rest
    folded = " ".join(words(said))
    if _ALWAYS_ASKS.match(folded) or _SERVICE.search(folded):
        return False
    if _names_a_form(words(said)):
        return True
    return not _ASKS.match(folded) and bool(_WISHES.search(fold(said)))


def opens_something(message: str) -> bool:
    """True when the message is about filling in or opening what may be a form by its title."""
    said = read_courtesy(message).rest
    folded = " ".join(words(said))
    is_question = _ALWAYS_ASKS.match(folded) or _ASKS.match(folded)
    return not is_question and bool(_OPENS.search(fold(said)))


def wanted_words(message: str) -> str:
    """What a form that is asked for is about; the message's words where it says nothing else."""
    query = make_query(read_courtesy(message).rest)
    about = [word for word in words(query) if word not in _ASKING]
    return " ".join(about) or query


def _names_a_form(spoken: list[str]) -> bool:
    for place, word in enumerate(spoken):
        before = spoken[place - 1] if place else ""
        after = spoken[place + 1] if place + 1 < len(spoken) else ""
        if word in _FORMS and before not in _VERB_BEFORE and after not in _NOT_AFTER:
            return True
    return False


def tells_of_event(message: str) -> bool:
    """True when the message tells of something that happened, and asks nothing about it."""
    folded = " ".join(words(message))
    is_question = "?" in message or _ASKS.match(folded) or _ALWAYS_ASKS.match(folded)
    return not is_question and bool(_EVENTS.search(folded))
