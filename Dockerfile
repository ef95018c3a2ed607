# hush in a small image: built on Debian 12 with Swift's toolchain, run on Debian 12 with the libraries alone.
FROM swift:6.3.1-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
      pkg-config librdkafka-dev libnghttp2-dev libssl-dev librocksdb-dev libsimdjson-dev libevent-dev libsqlite3-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY Sources Sources
COPY Benchmarks Benchmarks
COPY Tests Tests
RUN swift build --configuration release --product hush --static-swift-stdlib \
    && install -D "$(swift build --configuration release --product hush --static-swift-stdlib --show-bin-path)/hush" /out/hush

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
      ca-certificates tzdata libstdc++6 \
      librdkafka1 libnghttp2-14 libssl3 librocksdb7.8 libsimdjson14 libevent-2.1-7 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/hush --create-home hush \
    && install -d -o hush -g hush /var/lib/hush/state /var/lib/hush/apns
COPY --from=build /out/hush /usr/local/bin/hush
USER 10001
WORKDIR /var/lib/hush
ENV HUSH_STATE_DIR=/var/lib/hush/state
# Metrics and probes. Loopback inside of a container is nobody's; publish the port only where it is safe.
ENV HUSH_ADMIN_HOST=0.0.0.0
EXPOSE 9464
ENTRYPOINT ["hush"]
CMD ["help"]
