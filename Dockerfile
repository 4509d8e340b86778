# Comanda's programs: web, runner, jobs and the `flask` command. compose.yaml says how each starts.
FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --require-hashes --disable-pip-version-check -r requirements.txt
COPY app/translations app/translations
RUN for po in app/translations/*/LC_MESSAGES/*.po; do \
      /venv/bin/pybabel --quiet compile -i "$po" -o "${po%.po}.mo"; \
    done

FROM python:3.13-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --uid 10001 --no-create-home --home-dir /nonexistent comanda \
    && install -d -o comanda -g comanda -m 0700 /data
WORKDIR /srv/comanda
COPY --from=build /venv /venv
COPY wsgi.py gunicorn.conf.py ./
COPY app app
COPY templates templates
COPY static static
COPY migrations migrations
COPY --from=build /build/app/translations app/translations
USER comanda
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
