"""What a stem may go on with, in either language: how far a word is known while it is typed.

Words are kept by their stems, so that of "refrigerato" only "refriger" is known. The rest
must be the beginning of an ending, else any word would be one that begins like another.
"""

from __future__ import annotations

SHORTEST_STEM, LONGEST_ENDING = 3, 5

_ENGLISH = (
    "able ably al ally ance ances ant ants ate ated ates ating ation ational ations ative"
    " ator ators ed ence ences ency ent ents er ers ery es est ey ful fully ial ible ibly ic"
    " ical ie ied ier ies iest ily ing ings ion ional ions ious ish ism ist ists ities ity ive"
    " ives ization ize ized izer izes izing less ly ment ments ness nesses or ors ory ous ously s"
    " ure ures y"
)
_SPANISH = (
    "a aba aban able ables ad ada adas ado ador adora adoras adores ados aje ajes al ales"
    " amente amiento amientos amos an ancia ancias ando ano anos ante antes anza anzas ar aria"
    " arias ario arios aron arse as ativa ativo acion aciones dad dades e emos en encia encias"
    " er era eras eria erias ero eros es ia ian ible ibles ica icas icion iciones ico icos ida"
    " idad idades idas ido idos iendo iente ientes ieron illa illas illo illos imiento"
    " imientos in ina inas ino inos io ion iones ios ir ismo ista istas ita itas ito itos iva"
    " ivas ivo ivos izar mente o on ona ones os osa osas oso osos ura uras"
)
# Those before which English doubles a letter: "cutting" is of "cut".
_DOUBLING = "able ed er ers est ing ings y"


def _beginnings(endings: str) -> frozenset[str]:
    """All that these endings begin with: nothing, and each as a whole too."""
    each = endings.split()
    return frozenset(ending[:end] for ending in each for end in range(len(ending) + 1))


_BEGUN = _beginnings(f"{_ENGLISH} {_SPANISH}")
_BEGUN_DOUBLED = _beginnings(_DOUBLING)


def stems_of(beginning: str) -> list[str]:
    """What may be the stem of a word that begins so: itself, and without an ending begun."""
    shortest = max(SHORTEST_STEM, len(beginning) - LONGEST_ENDING)
    cuts = range(shortest, len(beginning) + 1)
    return [beginning[:cut] for cut in cuts if _may_go_on(beginning[:cut], beginning[cut:])]


def _may_go_on(stem: str, rest: str) -> bool:
    is_doubled = rest[:1] == stem[-1]
    return rest in _BEGUN or (is_doubled and rest[1:] in _BEGUN_DOUBLED)
