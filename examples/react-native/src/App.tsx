/** Loads rows with their progress, shows those of one owner, and can be used meanwhile. */
import { HedgerowError, type Store } from 'hedgerow';
import { useCallback, useEffect, useRef, useState } from 'react';
import { FlatList, Pressable, SafeAreaView, StyleSheet, Text, View } from 'react-native';
import { type Issue, OWNERS } from './rows';
import { issuesOf, load, store, touch } from './store';

const COUNT = 10_000;
const SHOWN = 200;

type State = { readonly db?: Store; readonly problem?: string };

function useStore(): State {
  const [state, setState] = useState<State>({});
  useEffect(() => {
    store().then(
      (db) => setState({ db }),
      (cause: unknown) => setState({ problem: messageOf(cause) }),
    );
  }, []);
  return state;
}

/** The rows of an owner: read again when some row has changed. */
function useIssues(db: Store | undefined, owner: string): readonly Issue[] {
  const [issues, setIssues] = useState<readonly Issue[]>([]);
  useEffect(() => {
    if (db === undefined) return;
    let isGone = false;
    let isReading = false;
    let isStale = true;
    const read = async () => {
      isStale = true;
      if (isReading) return;
      isReading = true;
      while (isStale && !isGone) {
        isStale = false;
        const found = await issuesOf(db, owner, SHOWN);
        if (!isGone) setIssues(found);
      }
      isReading = false;
    };
    const stop = db.watch({ prefix: 'issue/' }, () => void read());
    void read();
    return () => {
      isGone = true;
      stop();
    };
  }, [db, owner]);
  return issues;
}

export function App() {
  const { db, problem } = useStore();
  const [owner, setOwner] = useState<string>(OWNERS[0]);
  const [told, setTold] = useState('');
  const loading = useRef<AbortController | undefined>(undefined);
  const issues = useIssues(db, owner);

  const toggle = useCallback(async () => {
    if (loading.current !== undefined) {
      loading.current.abort();
      return;
    }
    const controller = new AbortController();
    loading.current = controller;
    try {
      const start = Date.now();
      const onProgress = ({ rows, durableRows }: { rows: number; durableRows: number }) =>
        setTold(`${rows} of ${COUNT} rows, ${durableRows} stored`);
      const rows = await load(COUNT, onProgress, controller.signal);
      setTold(`${rows} rows in ${Date.now() - start} ms`);
    } catch (cause) {
      setTold(messageOf(cause));
    } finally {
      loading.current = undefined;
    }
  }, []);

  if (problem !== undefined) return <Text style={styles.told}>{problem}</Text>;
  return (
    <SafeAreaView style={styles.page}>
      <Pressable style={styles.button} onPress={toggle}>
        <Text>Load, or stop loading</Text>
      </Pressable>
      <Text style={styles.told}>{told}</Text>
      <View style={styles.owners}>
        {OWNERS.map((name) => (
          <Pressable key={name} style={styles.owner} onPress={() => setOwner(name)}>
            <Text style={name === owner ? styles.chosen : undefined}>{name}</Text>
          </Pressable>
        ))}
      </View>
      <FlatList
        data={issues}
        keyExtractor={({ id }) => id}
        renderItem={({ item }) => (
          <Pressable style={styles.row} onPress={() => db && void touch(db, item.id)}>
            <Text>{item.title}</Text>
            <Text style={styles.detail}>
              {item.owner}, priority {item.priority}, changed {item.modified}
            </Text>
          </Pressable>
        )}
      />
    </SafeAreaView>
  );
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof HedgerowError)) return String(cause);
  return cause.code === 'aborted' ? 'stopped' : cause.message;
}

const styles = StyleSheet.create({
  page: { flex: 1 },
  button: { padding: 16, alignItems: 'center' },
  told: { paddingHorizontal: 16 },
  owners: { flexDirection: 'row', padding: 8 },
  owner: { padding: 8 },
  chosen: { fontWeight: 'bold' },
  row: { paddingHorizontal: 16, paddingVertical: 8 },
  detail: { opacity: 0.6 },
});
