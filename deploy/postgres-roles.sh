#!/bin/sh
# Runs once, when the database is made: the two roles, the database and the extension.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" \
  -v owner_password="$OWNER_PASSWORD" -v app_password="$APP_PASSWORD" <<'SQL'
CREATE ROLE comanda_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE comanda_app LOGIN PASSWORD :'app_password' NOSUPERUSER NOBYPASSRLS;
CREATE DATABASE comanda OWNER comanda_owner;
REVOKE ALL ON DATABASE comanda FROM PUBLIC;
GRANT CONNECT ON DATABASE comanda TO comanda_app;
\connect comanda
CREATE EXTENSION vector;
SQL
