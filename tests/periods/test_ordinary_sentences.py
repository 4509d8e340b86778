"""What is said in a restaurant all day long names no period, however much it looks like one."""

from __future__ import annotations

from datetime import date

import pytest

from app.periods import find_period

TODAY = date(2026, 11, 22)
ENGLISH = """
I may need a second table
march the order in
12 euros
sun-dried tomatoes
the last one
24/7
Call me on 555-0192
Call 600 12 34 56 about the fish
It costs 4.50
2 for 1 on desserts
Half a second, please
Table 12 wants the bill
The third course is late
Who sat at table 7?
Seat them in the sun
April will bring the bread
Tell June to polish the glasses
We wed the sauce to the pasta
Put 2 to 3 spoons of oil in
Serve between 4 and 6 people
Bake at 180 for 45 minutes
I need it now
Add 1/2 cup of sugar
Use a 3/4 inch tip
The first of many
A quarter of a lemon
The second batch burned
Keep the list up to date
So far so good
May I have the menu?
May two of us sit outside?
How long is the shift?
Two portions to go
Open from 5 to 11
We serve dinner from 7 until 10
The 12 is out of wine
Give me the 15
Is the fridge at 5 degrees?
10% off everything
It weighs 2016 grams
There are 2 seats left
Chapter 3 of the manual
We are closed every Monday
Each week somebody cleans the hood
The shelf life is 3 days
Chill for 2 weeks
The soup of the day
Do we have a day off?
What is our monthly target?
Room 2024 wants breakfast
Version 2.0.1 of the app
Good Friday menu
Is everything daily fresh?
Next, please
The previous cook left a note
This one is past its best
They were here before us
After the starters
Since we have no basil
Until it boils
The weekend staff is trained
Sunday roast with gravy
The March hare
Past the counter, on the left
Early birds eat cheap
Late tables pay first
The end of the line
Middle shelf
Rest the meat
Let it rest
20-25 prawns per kilo
16/20 prawns
Q10 thermometer
Model H2O
She is twenty one
One hundred and fifty covers
$2016 in tips
€2024
A4 paper
Two halves of a chicken
Mon ami
Add a dash of salt
The second of the three ovens
Hold the mayo
Decorate with mar
Does the May pole stay up?
A cake for April, no nuts
Half a year of practice
All the eggs are cracked
The year was a good one
Ask for Dom Perignon
The bill is 1.250,50
Order number 2025 is ready
He quit after a week
Twice a month is enough
By Friday it must shine
You may report it to anyone
It happened in March 1756
Use the sauce within 3 days
Through the 18th and 19th floors
Wait until the second bell
Come right now
It is best on a Sunday
Saturday or Sunday suits us
We are busy on the weekends
Bring it on your last day
Eat it the same day
From now on we knock
""".strip().splitlines()
SPANISH = """
la mesa 12
Un café solo
segundo plato
12 euros
4,50
2x1 en postres
24/7
Llama al 600 12 34 56
Pon la mesa de Julio
La cuenta de Abril, por favor
De primero, ensalada
De segundo, merluza
El tercer turno
El cuarto de baño está sucio
Un cuarto de kilo de queso
Media ración
El set de cuchillos
Compré un set de 12 copas
Pescado de mar
Vistas al mar
Sin mayo, gracias
Me da el último trozo
La última vez
El próximo cliente
El siguiente, por favor
La sopa del día
El menú del día
Buenos días
Buenas tardes
Hasta luego
Hasta mañana
Quiero el 15
Dame el 12
Ponme el 7 y el 9
Hace calor en la cocina
Hace falta sal
Hace poco que abrimos
Cerramos los lunes
Cada semana limpiamos la campana
Todos los días hay pan
Dura 3 días en la nevera
Reposa 2 semanas
Abrimos de 7 a 11
Entre 4 y 6 personas
De 2 a 3 cucharadas
1/2 taza de azúcar
Caben 20 personas
Pesa 2016 gramos
La habitación 2024 quiere desayuno
El 10 % de descuento
Por la mañana viene el pan
Trabajo en el turno de la tarde
Hoy en día se come menos pan
Pasa el pedido
El pasado, pasado está
El vino de la casa
Antes de servir, prueba
Después de la cena
Desde la cocina se ve todo
Hasta que hierva
Fin del pedido
Final de la cola
Principios de cocina
Primera mitad del pollo
La primera mesa del fondo
Mi turno
Mi madre cocina
El domador
Marta y Domingo cierran
Dos segundos, voy
Un segundo
Somos veintiuno
Treinta y uno en total
Cien euros
Mil gracias
A las 8:30
A las 10
Modelo A4
Número 12
Mesa para dos
Los 2 de la barra
Este plato está frío
Esta es mi mesa
El mismo de siempre
Viernes Santo
Sube a 90 grados
Dale 2 vueltas al arroz
Sal marina
Pide por la ventana
Mesa 3, sin pan
Dos veces por semana
Tres veces al mes
La cuenta son 1.250,50
El pedido 2025 está listo
Media hora más
Entre la 3 y la 4
Los años no pasan
Un día cualquiera
Hace dos viernes libres
Termómetros numerados del 1 al 8
Hasta ahora no ha llegado el pescado
Una patata partida por la mitad está seca
Cómelo el mismo día
Úsalo dentro de 3 días
Fue en marzo de 1756
Cada mañana se barre
Ahora mismo voy
Desde ahora llamamos a la puerta
Sábado o domingo nos va bien
Del 7 al 10 por ciento se pierde
""".strip().splitlines()


@pytest.mark.parametrize(("language", "sentences"), [("en", ENGLISH), ("es", SPANISH)])
def test_an_ordinary_sentence_names_no_period(language: str, sentences: list[str]) -> None:
    found = {sentence: find_period(sentence, language, TODAY) for sentence in sentences}
    assert {sentence: period for sentence, period in found.items() if period} == {}


def test_there_are_enough_of_them_in_each_language() -> None:
    assert min(len(set(ENGLISH)), len(set(SPANISH))) >= 80


@pytest.mark.parametrize("sentence", ["last week", "la semana pasada", "yesterday"])
def test_no_period_is_found_in_a_language_that_is_not_spoken_here(sentence: str) -> None:
    assert find_period(sentence, "fr", TODAY) is None
