"""The Spanish of days, months and years, without its accents."""

from __future__ import annotations

from app.periods.vocabulary import Ahead, Back, Vocabulary, each_of
from app.text.calendar_words import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from app.text.numbers import NUMBER_WORDS, in_order

# No day or year is the zeroth.
_NUMBERS = {word: value for word, value in NUMBER_WORDS["es"].items() if value}
_ORDINALS = in_order(
    "primero|primer|primera|primeros|primeras segundo|segunda|segundos|segundas"
    " tercero|tercer|tercera cuarto|cuarta quinto|quinta sexto|sexta septimo|septima"
    " octavo|octava noveno|novena decimo|decima",
    1,
)
_UNITS = {
    **each_of("dia|dias", "day"),
    **each_of("semana|semanas", "week"),
    **each_of("fin de semana|fines de semana|finde|findes", "weekend"),
    **each_of("quincena|quincenas", "quincena"),
    **each_of("mes|meses", "month"),
    **each_of("trimestre|trimestres", "quarter"),
    **each_of("cuatrimestre|cuatrimestres", "third"),
    **each_of("semestre|semestres|mitad", "half"),
    **each_of("ano|anos", "year"),
}
_TODAY = {
    **each_of("anteayer|antier|antes de ayer|antenoche|anteanoche", -2),
    **each_of("ayer|anoche|el dia de ayer", -1),
    **each_of("hoy|hoy mismo|el dia de hoy|ahora|esta manana|esta tarde|esta noche|ahora mismo", 0),
    **each_of("manana|el dia de manana", 1),
    **each_of("pasado manana", 2),
}
_SHIFTS = each_of(
    "por la manana|por la tarde|por la noche|en la manana|en la tarde|en la noche"
    "|de la manana|de la tarde|de la noche|la manana|una manana"
)
_BARS = each_of(
    "cada|ese mismo|esa misma|aquel mismo|todos los|todas las|todos|todas|cualquier|los otros"
)
_CLEAR = each_of(
    "yo|tu|nosotros|ellos|ella|que|cuanto|cuanta|cuantos|cuantas|como|con|para|pero|si|no"
    "|se|fue|era|fueron|hubo|hay|donde|quien|cual|porque|comparado|frente|contra|en total"
)
_RECORDS = each_of(
    "gastos|gasto|ventas|venta|costos|costes|compras|recibos|recibo|facturas|factura|cuentas"
    "|totales|pedidos|propinas|informe|resumen|pagos|ingresos|cierre|total",
    True,
)

SPANISH = Vocabulary(
    language="es",
    day_first=True,
    leads=frozenset({"the"}),
    endings=frozenset("ro ra er do da to ta mo ma vo va no na º ª °".split()),
    verbs=frozenset({3, 9}),
    qualifies_after=True,
    tables={
        "number": {**_NUMBERS, "un par de": 2},
        "ordinal": _ORDINALS,
        "few": each_of("pocos|pocas|unos pocos|unas pocas|unos|unas|algunos|algunas", 3),
        "month": {**SHORT_MONTHS["es"], **MONTHS["es"]},
        "weekday": {**SHORT_WEEKDAYS["es"], **WEEKDAYS["es"]},
        "unit": _UNITS,
        "today": _TODAY,
        "shift": _SHIFTS,
        "last": {
            **each_of("ultimo|ultima|ultimos|ultimas", Back(rolls=True, by_year=True)),
            **each_of(
                "pasado|pasada|pasados|pasadas|anterior|anteriores|previo|previa|previos|previas",
                Back(),
            ),
            **each_of("antepasado|antepasada", Back(steps=2)),
        },
        "next": each_of(
            "proximo|proxima|proximos|proximas|siguiente|siguientes|que viene|que vienen"
            "|entrante|entrantes",
            Ahead(),
        ),
        "this": each_of(
            "este|esta|estos|estas|actual|en curso|corriente|presente|mismo|misma|este mismo"
            "|esta misma"
        ),
        "ago": each_of("atras"),
        "hace": each_of("hace|hace como|hace casi|hace ya"),
        "early": each_of(
            "principios de|a principios de|comienzos de|inicios de|inicio de|primeros dias de"
            "|principio de|el principio de|los primeros dias de"
        ),
        "middle": each_of("mediados de|a mediados de"),
        "late": each_of(
            "finales de|a finales de|fines de|a fines de|final de|fin de|el final de"
            "|ultimos dias de|los ultimos dias de"
        ),
        "rest": each_of(
            "resto de|el resto de|lo que queda de|lo que resta de|mas tarde|mas adelante"
        ),
        "earlier": each_of("mas temprano|antes"),
        "to": each_of("a|al"),
        "until": each_of("hasta"),
        "between": each_of("entre"),
        "and": each_of("y|e"),
        "since": each_of("desde|a partir de|a contar de"),
        "before": each_of("antes de"),
        "after": each_of("despues de|tras|luego de"),
        "onward": each_of("en adelante"),
        "so_far": {
            **each_of("en lo que va de|lo que va de|en lo que llevamos de|lo que llevamos de"),
            **each_of("hasta la fecha|hasta hoy", True),
            **each_of("hasta ahora|hasta el momento"),
        },
        "starting": each_of("que empieza|que comienza|que empezo|que comenzo|que inicia"),
        "within": each_of("dentro de|en menos de"),
        "the": {"el": "el", **each_of("la|mi|nuestra|nuestro", "la"), **each_of("los|las", "los")},
        "of": each_of("de"),
        "in": each_of("en|durante|todo|toda"),
        "deed": each_of(
            "gaste|gastamos|gastaron|compre|compramos|pague|pagamos|vendi|vendimos|vendio|cocine"
            "|cocinamos|hice|hicimos|cobramos|cobre"
        ),
        "bar": _BARS,
        "clear": _CLEAR,
        "record": _RECORDS,
        "word": each_of(
            "hoy en dia|a el dia|viernes santo|jueves santo|domingo de ramos"
            "|domingo de resurreccion"
            "|hasta manana|el mar|la mar|medio dia|los anos"
            "|los lunes|los martes|los miercoles|los jueves|los viernes"
        ),
    },
    weak=frozenset(
        each_of(
            "abril|mayo|junio|julio|ene|feb|mar|abr|may|jun|jul|ago|sept|sep|set|oct|nov|dic"
            "|lun|mie|mier|jue|vie|sab|dom|domingo|ahora|findes|mismo|misma|mitad"
            "|ahora mismo|fines de semana"
        )
    ),
    contractions={"del": ("de", "el"), "al": ("a", "el")},
)
