# A broker: the package and nothing else. Data lies in /data.
FROM python:3.11-slim
WORKDIR /app
COPY pyproject.toml README.md CHANGELOG.md ./
COPY src src
RUN pip install --no-cache-dir .
VOLUME /data
EXPOSE 9092
ENTRYPOINT ["kbroker"]
CMD ["start", "--data-dir", "/data", "--listen", "0.0.0.0:9092"]
