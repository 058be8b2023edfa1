/** The contract of remotes with moto, a second server of S3. Run by `node scripts/long/moto.mjs`. */
import { assert, describe, expect, it } from 'vitest';
import { s3Remote } from '../../src/sync/remote/adapters/s3.js';
import { probeRemote } from '../../src/sync/remote/index.js';
import { remoteContract } from '../support/contracts/remote-contract.js';

const { MOTO_ENDPOINT: endpoint } = process.env;
if (endpoint === undefined) throw new Error('run `node scripts/long/moto.mjs`');

const bytes = (text: string) => new TextEncoder().encode(text);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const at = (prefix: string) =>
  s3Remote({ endpoint, bucket: 'hedgerow', pathStyle: true, prefix, credentials });

describe('s3Remote() with moto', () => {
  for (const { name, run } of remoteContract) {
    it(name, () => run(() => at('a b&/'), assert));
  }

  it('is found safe by the probe', async () => {
    await probeRemote(at('probed/'));
  });

  it('lets one of many concurrent writers win, and answers 412 to the others', async () => {
    const statuses = new Set<number>();
    const remote = s3Remote({
      ...{ endpoint, bucket: 'hedgerow', pathStyle: true, prefix: 'race/', credentials },
      fetch: async (...call) => {
        const response = await fetch(...call);
        if (call[1].method === 'PUT') statuses.add(response.status);
        return response;
      },
    });
    let head = await remote.swapHead('main', undefined, bytes('0'));
    for (let round = 1; round < 20; round++) {
      const token = head.state === 'swapped' ? head.token : '';
      const swaps = await Promise.all(
        Array.from({ length: 8 }, (_, nth) =>
          remote.swapHead('main', token, bytes(`${round}/${nth}`)),
        ),
      );
      const won = swaps.filter(({ state }) => state === 'swapped');
      expect(won).toHaveLength(1);
      head = won[0] as typeof head;
    }
    expect([...statuses].sort()).toEqual([200, 412]);
  });

  it('does not check signatures', async () => {
    const wrong = { accessKeyId: 'another', secretAccessKey: 'wrong' };
    const remote = s3Remote({ endpoint, bucket: 'hedgerow', pathStyle: true, credentials: wrong });
    expect(await remote.readHead('nothing')).toBeUndefined();
  });
});
