# The site as an installed wheel, run by a user without rights. compose.yaml starts it with all it needs.
FROM python:3.11-slim-trixie AS build
WORKDIR /build
COPY pyproject.toml setup.py constraints.txt README.md LICENSE ./
COPY annotation annotation
COPY benchmarks benchmarks
COPY docs docs
COPY extensions extensions
COPY locale locale
COPY summhay_site summhay_site
COPY static static
COPY templates templates
RUN python -m venv /opt/summhay \
    && /opt/summhay/bin/python -m pip install --no-cache-dir --disable-pip-version-check -c constraints.txt .

FROM python:3.11-slim-trixie
# pg_dump and pg_restore, for the commands backup and restore; not older than the server of compose.yaml
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 summhay \
    && install --directory --owner=summhay --group=summhay --mode=700 /data
COPY --from=build /opt/summhay /opt/summhay
ENV PATH=/opt/summhay/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/data \
    STATIC_ROOT=/opt/summhay/static \
    HOST=0.0.0.0
RUN ["summhay-manage", "collectstatic", "--no-input", "--verbosity", "0"]
USER summhay
WORKDIR /home/summhay
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["python", "-m", "summhay_site.serving.probe"]
CMD ["gunicorn", "-c", "python:summhay_site.gunicorn", "summhay_site.wsgi"]
