import { buildPage } from './build.mjs';
import { PageServer, NETWORKS } from './server.mjs';
import { chromium } from '@playwright/test';
import { findBrowser } from '../../../scripts/lib/browser.mjs';
import { mkdtemp, writeFile } from 'node:fs/promises';
process.env.NOMIN='1';
const pages=new Map([['hedgerow', await buildPage('hedgerow','/tmp/fr-prof')],['dexie', await buildPage('dexie','/tmp/fr-prof2')]]);
const server=new PageServer(pages); const port=await server.listen();
const dir=await mkdtemp('/tmp/prof-');
const ctx=await chromium.launchPersistentContext(dir,{executablePath:findBrowser(),args:['--no-sandbox']});
const page=ctx.pages()[0]; const s=await ctx.newCDPSession(page);
const visit=async(name,v,act)=>{ await page.goto('about:blank'); await new Promise(r=>setTimeout(r,500)); await page.goto(`http://${name}.localhost:${port}/${v}/index.html${act}`,{waitUntil:'commit'}); for(;;){ const x=await page.evaluate(()=>globalThis.visit); if(x?.isDone) return x; await new Promise(r=>setTimeout(r,20)); } };
for (const n of ['hedgerow','dexie']) await visit(n,'fill','#fill=20000');
const rate=Number(process.argv[2]??6);
await s.send('Profiler.enable'); await s.send('Profiler.setSamplingInterval',{interval:200});
for (const n of ['hedgerow','dexie']) for (let i=0;i<3;i++) {
 await s.send('Emulation.setCPUThrottlingRate',{rate}); 
 await page.goto('about:blank'); await new Promise(r=>setTimeout(r,500));
 await s.send('Profiler.start');
 await page.goto(`http://${n}.localhost:${port}/v${i}/index.html#get=issue/00000100`,{waitUntil:'commit'});
 let x; for(;;){ x=await page.evaluate(()=>globalThis.visit); if(x?.isDone) break; await new Promise(r=>setTimeout(r,20)); }
 const {profile}=await s.send('Profiler.stop');
 await s.send('Emulation.setCPUThrottlingRate',{rate:1});
 const self=new Map(); const byId=new Map(profile.nodes.map(n=>[n.id,n]));
 for(let k=0;k<profile.samples.length;k++){ const node=byId.get(profile.samples[k]); const {functionName,url,lineNumber}=node.callFrame; const key=functionName+' '+url.split('/').pop()+':'+lineNumber; self.set(key,(self.get(key)??0)+profile.timeDeltas[k]/1000); }
 if (i===2) { console.log(n, 'script',x.scriptMs.toFixed(0),'read',(x.readMs-x.scriptMs).toFixed(0)); for (const [k,v] of [...self].sort((a,b)=>b[1]-a[1]).slice(0,28)) console.log('  ',v.toFixed(1),k); await writeFile(`/tmp/prof-${n}.cpuprofile`,JSON.stringify(profile)); }
 else console.log(n,'script',x.scriptMs.toFixed(0),'read',(x.readMs-x.scriptMs).toFixed(0));
}
await ctx.close(); await server.close(); process.exit(0);
