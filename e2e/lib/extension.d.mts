/** Writes an extension of Manifest V3 to a folder. */
export function writeExtension(dir: string): Promise<void>;
