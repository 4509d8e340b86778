"""Words that say how something is asked and not what about, in English and Spanish.

A vector that is the mean of its words' vectors means more without them. Folded; the
database keeps its own list for the words of the lexical search.
"""

from __future__ import annotations

ENGLISH = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been
    before being below between both but by can cannot could couldn d did didn do does doesn
    doing don down during each either else ever every few for from further get gets getting
    got had hadn has hasn have haven having he her here hers herself him himself his how hows
    i if im in into is isn it its itself ive just let lets ll m many may me might mine more
    most much must mustn my myself neither no nor not of off on once one ones only or other
    our ours ourselves out over own please re s same shall shan she should shouldn so some
    such t than that thats the their theirs them themselves then there theres these they this
    those through to too under until up upon us ve very was wasn we were weren what whats
    when where wheres which while who whom whos whose why will with won would wouldn yet you
    your yours yourself yourselves
    """.split()
)

SPANISH = frozenset(
    """
    a al algo alguien algun alguna algunas alguno algunos alla alli ambos ante antes aquel
    aquella aquellas aquellos aqui asi aun aunque bajo bien cada casi como con contra cosa
    cual cuales cualquier cuando cuanta cuantas cuanto cuantos de debe deben debemos debo del
    desde donde dos durante e el ella ellas ello ellos en entonces entre era eran eras eres
    es esa esas ese eso esos esta estaba estaban estado estamos estan estar estas este esto
    estos estoy estuvo fue fuera fueron fui ha haber habia habian hace hacen hacer haces hago
    han has hasta hay haya he hemos hubo iba ir la las le les lo los mas me mi mia mias mientras
    mio mios mis mismo mucha muchas mucho muchos muy nada ni ningun ninguna ninguno no nos
    nosotras nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para
    pero poca pocas poco pocos podemos por porque pueda puede pueden puedes puedo pues que
    quien quienes quiere quiero se sea sean segun ser sera seran seria si sido siempre sin
    sino sobre sois solo somos son soy su sus suya suyas suyo suyos tal tales tambien tan
    tanta tantas tanto tantos te tendra tener tengo ti tiene tienen tienes toda todas todavia
    todo todos tras tu tus tuya tuyas tuyo tuyos u un una unas uno unos usted ustedes va van
    vamos varias varios voy y ya yo
    """.split()
)

STOP_WORDS = ENGLISH | SPANISH
