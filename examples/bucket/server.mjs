// Runs the signing endpoint for a bucket of S3 or R2, configured by the environment: see README.md. Members are in
// MEMBERS, as JSON: `{ "<token>": { "<room>": "writer" } }`. Your app knows them by its own sessions.
import { createServer } from 'node:http';
import { s3Signer } from 'hedgerow/sync';
import { endpoint } from './endpoint.mjs';

const {
  BUCKET: bucket,
  AWS_REGION: region = 'us-east-1',
  MEMBERS = '{}',
  PORT = 7081,
} = process.env;
const own = process.env.AWS_ENDPOINT_URL_S3;
const sign = s3Signer({
  ...{ bucket, region, endpoint: own ?? `https://s3.${region}.amazonaws.com` },
  // Amazon has a host for each bucket; others have it in the path.
  pathStyle: own !== undefined,
  credentials: {
    accessKeyId: process.env.AWS_ACCESS_KEY_ID,
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
    sessionToken: process.env.AWS_SESSION_TOKEN,
  },
});

const members = new Map(
  Object.entries(JSON.parse(MEMBERS)).map(([token, rooms]) => [
    `Bearer ${token}`,
    { rooms: new Map(Object.entries(rooms)) },
  ]),
);
const memberOf = ({ headers }) => members.get(headers.authorization);

const server = createServer(endpoint({ memberOf, sign }));
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`signing at http://127.0.0.1:${server.address().port}/`),
);
