from tests.acceptance.service_requests.talking import Talk
from tests.factories import make_user, make_group
from app.skills.service_requests.services.starters import add_starters

def test_walk(demo, owner):
    who = make_user(owner)
    with owner.transaction() as s:
        add_starters(s, who.group_id)
    for lang, talkline in (("en", ["the walk-in is not cooling, it is at 52 degrees", "yes"]),
        ("en", ["fryer 2 will not light", "yes"]),
        ("es", ["el baño de clientes está tapado", "sí"]),
        ("es", ["se cayó el wifi en la caja", "sí"]),
        ("en", ["we are out of gloves", "yes"]),
        ("en", ["the hand sink at the bar is leaking, urgent please", "another type", "Plumbing and drains", "yes"]),
        ("en", ["something is broken", "yes"]),
        ("en", ["the walk-in is warm again", "make it urgent", "Where it is: back door", "yes"]),
        ("en", ["my paycheck is short", "yes"])):
        t = Talk(demo, who, lang)
        print("=" * 60)
        for x in talkline:
            r = t.send(x)
            print(">>", x); print(r.text)
            print("   parts", [p["type"] for p in r.body["parts"]], "chips", [c["label"] for c in r.body["suggestions"]])
            for p in r.body["parts"]:
                if p["type"] == "proposal": print("   ", p["details"][lang])
                if p["type"] == "field_widget": print("   widget", p.get("field", p).get("label"))
