# The service alone. With DATABASE_URL it uses that server; without, the embedded PostgreSQL under /data.
# It runs in production mode: set OIDC_ISSUERS and BASE_URL (docs/operations.md, "The container image").
FROM node:24-slim AS install
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
RUN node --input-type=module -e "await (await import('/app/bin/program.js')).bundled(); await (await import('/app/src/http/app/bundle.ts')).dashboardFiles(); await (await import('/app/src/app/receipts/bundle.ts')).bundleRenderer()" && node tools/image/prune.ts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=install /app /app
RUN mkdir /data && chown node:node /data
USER node
ENV MODE=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
# The port opens when read models are up to date. A new version may have to rebuild them first: eight hours for a million
# patients. Until then the container is starting, not unhealthy.
HEALTHCHECK --start-period=24h --start-interval=5s --interval=10s --timeout=5s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "bin/start.js"]
