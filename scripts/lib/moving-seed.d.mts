export function ensureSeedBase(env?: NodeJS.ProcessEnv): void;
