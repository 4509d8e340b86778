"""People, the groups they work for, and how they get in: sign-in, invitations, profiles."""

from __future__ import annotations

from flask import Flask, current_app, request


def init_accounts(app: Flask) -> None:
    """Let people in and out of `app`, and refuse what another site makes their browser send."""
    # Imported here because migrations and jobs need the models and nothing of a web server.
    from app.accounts.form_tokens import init_form_tokens
    from app.accounts.group_settings_views import blueprint as group_settings
    from app.accounts.person import load_from_bearer, load_from_cookie
    from app.accounts.views import blueprint
    from app.extensions import login_manager

    # The sign-in's own row says how long it lives, so the cookie is not sent anew each time.
    app.config["SESSION_REFRESH_EACH_REQUEST"] = False
    # A phone changes its address all day; the token is what counts.
    login_manager.session_protection = None
    login_manager.user_loader(load_from_cookie)
    login_manager.request_loader(load_from_bearer)
    login_manager.init_app(app)
    app.config["WTF_CSRF_CHECK_DEFAULT"] = False
    app.before_request(_refuse_forgeries)
    init_form_tokens(app)
    app.register_blueprint(blueprint)
    app.register_blueprint(group_settings)


def _refuse_forgeries() -> None:
    """Ask for the CSRF token wherever a cookie could speak for the person.

    A request with a bearer token is never answered on the strength of a cookie
    (app.accounts.person), and no other site can make a browser send that header.
    """
    from app.accounts.form_tokens import check_form_token, is_of_any_group
    from app.accounts.person import bearer_token
    from app.extensions import csrf

    if request.endpoint == "accounts.sign_out" and is_of_any_group():
        return
    if request.endpoint and current_app.config["WTF_CSRF_ENABLED"] and bearer_token() is None:
        csrf.protect(apply_exemptions=True)
        check_form_token()
