export const BUCKET: string;
export const CREDENTIALS: { readonly accessKeyId: string; readonly secretAccessKey: string };
export function startGateway(): Promise<{ readonly endpoint: string; stop(): Promise<void> }>;
