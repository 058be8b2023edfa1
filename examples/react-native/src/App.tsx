/** Loads rows with their progress, shows the rows of one owner, and stays usable during the load. */
import { HedgerowError } from 'hedgerow';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { FlatList, Pressable, SafeAreaView, StyleSheet, Text, View } from 'react-native';
import { OWNERS } from './rows';
import { load, type Opened, store, touch } from './store';
import { useLive } from './use-live';

const COUNT = 10_000;
const SHOWN = 200;

type State = { readonly db?: Opened; readonly problem?: string };

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

export function App() {
  const { db, problem } = useStore();
  const [owner, setOwner] = useState<string>(OWNERS[0]);
  const [told, setTold] = useState('');
  const loading = useRef<AbortController | undefined>(undefined);
  // The first rows of an owner, by the index.
  const query = useMemo(() => db?.issues.where({ owner }).limit(SHOWN), [db, owner]);
  const found = useLive(query);

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

  const change = useCallback(async (id: string) => {
    try {
      await touch(id);
    } catch (cause) {
      setTold(messageOf(cause));
    }
  }, []);

  if (problem !== undefined) return <Text style={styles.told}>{problem}</Text>;
  return (
    <SafeAreaView style={styles.page}>
      <Pressable style={styles.button} onPress={toggle}>
        <Text>Load, or stop loading</Text>
      </Pressable>
      <Text style={styles.told}>{found.status === 'error' ? messageOf(found.error) : told}</Text>
      <View style={styles.owners}>
        {OWNERS.map((name) => (
          <Pressable key={name} style={styles.owner} onPress={() => setOwner(name)}>
            <Text style={name === owner ? styles.chosen : undefined}>{name}</Text>
          </Pressable>
        ))}
      </View>
      <FlatList
        data={found.rows}
        keyExtractor={({ id }) => id}
        renderItem={({ item: issue }) => (
          <Pressable style={styles.row} onPress={() => void change(issue.id)}>
            <Text>{issue.title}</Text>
            <Text style={styles.detail}>
              {issue.owner}, priority {issue.priority}, changed {issue.modified}
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
