/** Programs to begin with. The editor shows each as it is here. */

export interface Example {
  readonly name: string;
  readonly title: string;
  readonly code: string;
  /** A line to run on its store afterwards. */
  readonly line: string;
}

const ROWS = `import { open } from 'hedgerow';

const db = await open('trees');

// 3,000 rows in one commit.
const rows = Array.from({ length: 3000 }, (_, at) => [\`tree/\${String(at).padStart(4, '0')}\`, { height: at % 40 }]);
await db.putMany(rows);
const before = db.root;

// One row is changed: look at what is new, from a leaf up to the root.
await db.put('tree/1500', { height: 41 });
console.log(await db.history.diff(before, db.root).toArray());

// And back. Equal rows have equal roots.
await db.put('tree/1500', { height: 1500 % 40 });
console.log(db.root === before);
`;

const TABLE = `import { open } from 'hedgerow';
import { live, table } from 'hedgerow';

const issues = table({ key: 'id', indexes: { byState: ['status', 'modified'] } });
const db = await open('issues', { tables: { issues } });

const states = ['open', 'closed', 'blocked'];
const rows = Array.from({ length: 1000 }, (_, at) => (
  { id: String(at).padStart(4, '0'), title: \`Gate \${at}\`, status: states[at % 3], modified: at }
));
await db.issues.putMany(rows);

// Kept up to date by every write, also by that of the line below.
const newest = live(db.issues.where({ status: 'open' }).orderBy('modified', 'desc').limit(3));
newest.subscribe(() => console.log(newest.get().rows.map(({ title }) => title)));

await db.issues.update('0500', { status: 'open', modified: 3000 });
`;

const SLICES = `import { open } from 'hedgerow';

const db = await open('load');
const rows = Array.from({ length: 60_000 }, (_, at) => (
  { id: String(at).padStart(6, '0'), title: \`Row number \${at}\`, modified: 1754000000 + at }
));

// One task: nothing else runs in this thread meanwhile.
JSON.parse(JSON.stringify(rows));

// Slices of 8 ms: what waits gets its turn after each.
const { slices, longestSliceMs, ms } = await db.putMany(rows, { key: '/id' });
console.log({ slices, longestSliceMs, ms: Math.round(ms) });
`;

const BRANCH = `import { open } from 'hedgerow';

const db = await open('plants');
await db.putMany(Array.from({ length: 500 }, (_, at) => [\`plant/\${at}\`, { bees: at }]));

// A second pointer to the same tree: nothing is copied.
const draft = await db.branches.open('draft');
await draft.put('plant/7', { bees: 700 });
await draft.delete('plant/8');
await db.put('plant/9', { bees: 900 });

console.log(await draft.history.sinceFork().toArray());
const { conflicts, changed } = await db.branches.preview('draft');
console.log({ changed, conflicts });
await db.branches.merge('draft');
console.log(await db.get('plant/7'), await db.get('plant/8'), await db.get('plant/9'));
`;

const UNDO = `import { open } from 'hedgerow';

const db = await open('garden');
await db.putMany([['ash', 1], ['elm', 2], ['oak', 3]]);

const done = await db.history.commit((tx) => tx.delete('elm'), { keep: true });
await db.put('oak', 4);

// Takes back the one change, and leaves what was written since.
await db.history.revert(done.before, done.after);
console.log(await db.scan().toArray());
`;

const PROOF = `import { open } from 'hedgerow';
import { verifyProof } from 'hedgerow/proofs';

const db = await open('claims');
await db.putMany(Array.from({ length: 2000 }, (_, at) => [\`claim/\${at}\`, { paid: at % 2 === 0 }]));

const proof = await db.prove('claim/42');
console.log(proof.length, 'bytes prove it to whoever knows', db.root.slice(0, 8));
console.log(await verifyProof(db.root, 'claim/42', proof));

// One bit is changed: this throws.
proof[100] ^= 1;
await verifyProof(db.root, 'claim/42', proof);
`;

const ERROR = `import { open } from 'hedgerow';

const db = await open('errors');
await db.insert('ash', { height: 12 });
await db.insert('ash', { height: 13 }); // there is one already
`;

export const EXAMPLES: readonly Example[] = [
  {
    name: 'rows',
    title: 'One row is changed',
    code: ROWS,
    line: "db.put('tree/2999', { height: 42 })",
  },
  {
    name: 'table',
    title: 'A table, an index, a live list',
    code: TABLE,
    line: "db.issues.put({ id: '2000', title: 'A new gate', status: 'open', modified: 5000 })",
  },
  {
    name: 'slices',
    title: 'A load in slices',
    code: SLICES,
    line: "db.deleteMany({ gte: '030000' })",
  },
  { name: 'branch', title: 'A branch and a merge', code: BRANCH, line: 'db.branches.list()' },
  { name: 'undo', title: 'Undo one change', code: UNDO, line: "db.put('ash', 5)" },
  { name: 'proof', title: 'A proof, and a wrong one', code: PROOF, line: 'db.count()' },
  { name: 'error', title: 'An error', code: ERROR, line: "db.get('ash')" },
];
