// Writes the source of an app with many tables, to measure how long its types take to compile.

const TABLES = 30;
const MEMBERS = 20;
const TYPES = [
  'string',
  'number',
  'boolean',
  'string | null',
  'string[]',
  "'a' | 'b' | 'c'",
  '{ name: string; home?: { city: string } }',
  'number | undefined',
];

export const MANY = `${TABLES} tables of ${MEMBERS} members`;

const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));

function tableSource(table) {
  const members = times(MEMBERS - 1, (at) => [`m${at}`, TYPES[(at + table) % TYPES.length]]);
  const [author] = members.find(([, type]) => type.startsWith('{'));
  const [a, b, c, d] = members.filter(([name]) => name !== author).map(([name]) => name);
  return `
interface Row${table} { id: string; ${members.map(([name, type]) => `${name}: ${type}`).join('; ')} }
const t${table} = table({ schema: rowType<Row${table}>(), 
  key: 'id',
  indexes: { a: ['${a}', '${b}'], b: ['${c}'], c: ['/${author}/home/city', '${d}'] },
});
export async function use${table}(db: Db) {
  const rows = await db.t${table}.where({ id: 'x', '/${author}/home/city': null }).orderBy('id').toArray();
  await db.t${table}.put(rows[0]!);
  await db.t${table}.update('x', { id: 'x' });
  await db.transaction(async (tx) => {
    tx.t${table}.put(rows[0]!);
    await tx.t${table}.where({ id: 'x' }).first();
  });
}`;
}

/** Makes an app of these tables with five calls of each. */
export function manyTables() {
  return `import { open, type Store } from 'hedgerow';
import { type StoreWith, rowType, table } from 'hedgerow';
${times(TABLES, tableSource).join('\n')}
const tables = { ${times(TABLES, (at) => `t${at}`).join(', ')} };
type Db = StoreWith<typeof tables>;
export const db: Db = await open('many', { tables });
export const plain: Store = db;
`;
}
