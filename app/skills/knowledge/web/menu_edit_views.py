"""Pages for editing the menu: products, their tags, and which allergens are declared."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_babel import ngettext
from flask_login import current_user

from app.db import new_id
from app.errors import Conflict, InvalidInput, NotFound
from app.skills.knowledge.models import PRODUCT_KINDS, Product
from app.skills.knowledge.services.categories import categories_in_use, tags_in_use
from app.skills.knowledge.services.menu_upkeep import (
    list_declarations,
    rename_tag,
    sign_tags,
)
from app.skills.knowledge.services.products import (
    ProductDraft,
    create_product,
    declare_allergens,
    find_product_id,
    load_product_to_edit,
    save_product,
)
from app.skills.knowledge.services.sections import StaleEdit
from app.skills.knowledge.services.vocabulary import category_name, item_name, kind_name
from app.skills.knowledge.web import editors
from app.skills.knowledge.web.forms import (
    DECLARATIONS,
    ProductForm,
    draft_of_product,
    empty_form,
    form_of,
    product_lines,
    read_declaration,
    read_product,
)
from app.skills.knowledge.web.section_edit_views import status_of
from app.text.allergens import ALLERGENS
from app.text.bilingual import reader_language
from app.web.fair_queue import Pace
from app.web.issued_ids import own_id
from app.web.pages import db_session, page_number, wants_fragment
from app.web.rate_limits import limit_building

# Some products of a tag are renamed at a time; everything else of the process goes on in between.
_renaming = Pace(every=0.2, longest=1.0)

blueprint = Blueprint("menu", __name__, url_prefix="/library/edit")
editors.init_editing(blueprint)


@blueprint.get("/menu/<kind>/<slug>")
def by_slug(kind: str, slug: str) -> ResponseReturnValue:
    """The editor of a product that is known by its address."""
    return redirect(url_for(".product", product_id=find_product_id(db_session(), kind, slug)))


@blueprint.get("/products/new/<kind>")
def new_product(kind: str) -> ResponseReturnValue:
    """An empty product of one kind."""
    _check_kind(kind)
    return _product_page(empty_form(kind), new_id())


@blueprint.post("/products/new/<kind>")
@limit_building
def create(kind: str) -> ResponseReturnValue:
    """Put the product that was typed on the menu."""
    _check_kind(kind)
    form = read_product(request.form, kind)
    product_id = editors.typed_id("product_id") or new_id()
    if request.form.get("action") == "rows":
        return _product_page(form, product_id, unsaved=True)
    try:
        made = create_product(db_session(), own_id(product_id), kind, _draft(form, None))
    except InvalidInput as error:
        db_session().rollback()
        page = _product_page(form, product_id, unsaved=True, errors=editors.told(error))
        return page, error.status
    except Conflict as error:
        db_session().rollback()
        page = _product_page(form, new_id(), unsaved=True, errors=editors.told(error))
        return page, error.status
    return redirect(url_for(".product", product_id=made.id, saved=1), HTTPStatus.SEE_OTHER)


@blueprint.get("/products/<uuid:product_id>")
def product(product_id: UUID) -> ResponseReturnValue:
    """A product's form."""
    found = load_product_to_edit(db_session(), product_id)
    return _product_page(form_of(found, reader_language()), found.id, found)


@blueprint.post("/products/<uuid:product_id>")
@limit_building
def save(product_id: UUID) -> ResponseReturnValue:
    """Save what was typed; whatever keeps it from being saved, it is shown again."""
    session, version = db_session(), editors.typed_version()
    form = read_product(request.form, request.form.get("kind", ""))
    try:
        found = load_product_to_edit(session, product_id)
    except NotFound as error:
        _check_kind(form.kind)
        # Nothing that was typed is lost with a product that somebody has removed.
        return _product_page(form, new_id(), unsaved=True, is_gone=True), error.status
    if request.form.get("action") == "rows":
        return _product_page(form, product_id, found, version=version, unsaved=True)
    try:
        save_product(session, product_id, version, _draft(form, found))
    except (InvalidInput, StaleEdit) as error:
        return _refused(product_id, form, version, error), error.status
    return redirect(url_for(".product", product_id=product_id, saved=1), HTTPStatus.SEE_OTHER)


def _refused(
    product_id: UUID, form: ProductForm, version: int, error: InvalidInput | StaleEdit
) -> str:
    """The form once more; after another's change with theirs beside it, to be saved over it."""
    db_session().rollback()
    found = load_product_to_edit(db_session(), product_id)
    more: dict[str, Any] = {"unsaved": True, "version": version}
    if isinstance(error, InvalidInput):
        return _product_page(form, product_id, found, errors=editors.told(error), **more)
    mine, theirs = product_lines(form), product_lines(form_of(found, reader_language()))
    differing = {name: theirs[name] for name in theirs if theirs[name] != mine[name]}
    more |= {"version": found.version, "editor": error.editor, "theirs": differing}
    return _product_page(form, product_id, found, **more)


@blueprint.get("/allergens")
def allergens() -> ResponseReturnValue:
    """Which allergens are declared of what; where nothing is, it is asked for at once."""
    page = list_declarations(
        db_session(),
        missing_only=request.args.get("show") == "missing",
        kind=request.args.get("kind", ""),
        page=page_number(),
    )
    return render_template(
        "library/edit/allergens.html",
        declared=page,
        codes=ALLERGENS,
        declarations=DECLARATIONS,
        kinds={kind: kind_name(kind, reader_language()) for kind in PRODUCT_KINDS},
        language=reader_language(),
        errors={},
    )


@blueprint.post("/allergens/<uuid:product_id>")
@limit_building
def declare(product_id: UUID) -> ResponseReturnValue:
    """Declare the allergens of one product; htmx shows its line again."""
    session, errors, status = db_session(), {}, HTTPStatus.OK
    form, version = request.form, editors.typed_version()
    try:
        codes = read_declaration(form.get("declaration", ""), form.getlist("allergens"))
        found = declare_allergens(session, product_id, version, codes)
    except (InvalidInput, StaleEdit) as error:
        session.rollback()
        found = load_product_to_edit(session, product_id)
        errors, status = {"allergens": editors.told(error).popitem()[1]}, HTTPStatus(error.status)
    if errors or wants_fragment():
        # After a mistake as it was opened: what was not shown is not saved over.
        opened = version if status == HTTPStatus.UNPROCESSABLE_ENTITY else found.version
        return _declaration_page(found, errors, opened), status
    flash(_("%(name)s: allergens declared.", name=found.name(reader_language())))
    return redirect(url_for(".allergens", show="missing"), HTTPStatus.SEE_OTHER)


def _declaration_page(found: Product, errors: dict[str, str], version: int) -> str:
    fragment = wants_fragment()
    template = "_declaration.html" if fragment else "declaration.html"
    return render_template(
        f"library/edit/{template}",
        product=found,
        version=version,
        codes=ALLERGENS,
        declarations=DECLARATIONS,
        language=reader_language(),
        errors=errors,
        typed=request.form.getlist("allergens") if errors else None,
        declaration=request.form.get("declaration", "") if errors else None,
    )


@blueprint.get("/tags")
def tags() -> ResponseReturnValue:
    """Every tag of the menu with how many have it."""
    return _tags_page()


@blueprint.post("/tags")
@limit_building
def rename() -> ResponseReturnValue:
    """Give a tag another name, or make one of two."""
    session, tag = db_session(), request.form.get("tag", "")
    try:
        wanted, signature = request.form.get("name", ""), request.form.get("signature", "")
        code, count = rename_tag(session, tag, wanted, signature, on_progress=_let_others_go_on)
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return _tags_page(tag, editors.told(error)), error.status
    name = category_name(code, reader_language())
    flash(
        ngettext(
            "%(num)d menu item now has the tag “%(name)s”.",
            "%(num)d menu items now have the tag “%(name)s”.",
            count,
            name=name,
        )
    )
    return redirect(url_for(".tags"), HTTPStatus.SEE_OTHER)


def _let_others_go_on(_done: int, _total: int) -> None:
    _renaming.wait(current_user.user_id)


def _tags_page(wrong: str = "", errors: dict[str, str] | None = None) -> str:
    language = reader_language()
    counted = tags_in_use(db_session())
    rows = [(code, category_name(code, language), count) for code, count in counted.items()]
    rows.sort(key=lambda row: row[1].casefold())
    return render_template(
        "library/edit/tags.html",
        tags=rows,
        signature=sign_tags(counted),
        wrong=wrong,
        typed=request.form.get("name", ""),
        errors=errors or {},
    )


def _check_kind(kind: str) -> None:
    if kind not in PRODUCT_KINDS:
        raise NotFound("This page does not exist, or you don't have access to it.")


def _draft(form: ProductForm, found: Product | None) -> ProductDraft:
    session = db_session()
    tags = list(tags_in_use(session))
    return draft_of_product(form, found, tags, categories_in_use(session, form.kind))


def _product_page(
    form: ProductForm, product_id: UUID, found: Product | None = None, **more: Any
) -> str:
    session, language = db_session(), reader_language()
    context: dict[str, Any] = {"errors": {}, "version": found.version if found else 0, **more}
    if found:
        context |= status_of(product_id, 0)
    return render_template(
        "library/edit/product.html",
        product=found,
        product_id=product_id,
        form=form.with_spare_rows(),
        codes=[*ALLERGENS, *(code for code in form.allergens if code not in ALLERGENS)],
        declarations=DECLARATIONS,
        all_tags=[category_name(code, language) for code in tags_in_use(session)],
        categories=[category_name(c, language) for c in categories_in_use(session, form.kind)],
        kind_label=item_name(form.kind, language),
        just_saved=found and "saved" in request.args and request.method == "GET",
        person=current_user.draft_owner,
        language=language,
        **context,
    )
