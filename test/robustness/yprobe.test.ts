import { test } from 'vitest';
import { readYaml } from '../../src/cluster/embedded/schema/yaml-reader.ts';
const rep = (s:string,n:number)=>s.repeat(n);
const pats: Record<string,(n:number)=>string> = {
 '[': n=>rep('[',n), '- ': n=>rep('- ',n/2), '{a: ': n=>rep('{a: ',n/4), '? ': n=>rep('? ',n/2), '- ?': n=>rep('- ? ',n/4),
 'keys': n=>Array.from({length:n/10},(_, i)=>`k${i}: v`).join('\n'),
 'seq': n=>rep('- a\n',n/4),
 'flowseq': n=>'['+rep('a,',n/2)+']',
 'flowmap': n=>'{'+Array.from({length:n/10},(_, i)=>`k${i}: v`).join(',')+'}',
 'anchors': n=>Array.from({length:n/20},(_, i)=>`k${i}: &a${i} [*a${Math.max(0,i-1)}]`).join('\n'),
 'aliases': n=>'x: &a 1\n'+Array.from({length:n/10},(_, i)=>`k${i}: *a`).join('\n'),
 'manyanchors': n=>Array.from({length:n/12},(_, i)=>`k${i}: &a${i} 1`).join('\n'),
 'quote': n=>'"'+rep('\\',n), 'quote2': n=>'"'+rep('a\n\n',n/3)+'"', 'single': n=>"'"+rep("''",n/2)+"'",
 '!': n=>rep('!',n), 'tags': n=>rep('- !a x\n',n/7), '%': n=>rep('%TAG ! x\n',n/9), '#': n=>rep('# a\n',n/4), 'blockscalar': n=>'a: |\n'+rep('  a\n',n/4), 'nl':n=>'a: |\n'+rep('\n',n), 'folded': n=>'a: >\n'+rep('  a b\n',n/6),
 'docs': n=>rep('---\n',n/4), 'plainmulti': n=>'a: '+rep('a\n  ',n/4), 'spaces': n=>rep(' ',n)+'a', 'tabs': n=>rep('\t',n)+'a', 'commas': n=>'['+rep(',',n), 'colons': n=>rep(':',n), 'colons2': n=>rep(': ',n/2), 'a: ': n=>rep('a: ',n/3), '&': n=>rep('&a ',n/3), '}': n=>rep('}',n), 'cr': n=>rep('\r',n), '[]': n=>'['+rep('[],',n/3)+']', 'indent': n=>Array.from({length:Math.floor(Math.sqrt(2*n))},(_, i)=>' '.repeat(i)+'a:').join('\n'), 'merge': n=>rep('<<: {}\n',n/7), 'dupkeys': n=>rep('a: 1\n',n/5), 'ints': n=>'a: '+rep('9',n), 'intlist': n=>rep('- 0x1\n', n/6), 'float': n=>'a: '+rep('1',n)+'.', 'under': n=>'a: '+rep('1_',n/2), 'binary': n=>'a: !!binary '+rep('A',n), 'colonint': n=>'a: '+rep('1:',n/2)+'1',
};
test('y', () => { const log: string[] = [];
for (const [k,f] of Object.entries(pats)) {
  const out: string[]=[]; let last = 0;
  for (const n of [20000, 40000, 80000, 160000, 3000000]) {
    if (n > 160000 && last > 250) { out.push('skip'); continue; }
    const t=f(n); const s=performance.now(); let e='';
    try { readYaml(t); } catch (err) { e=String(err).slice(0,60); }
    last = performance.now()-s;
    out.push(`${last.toFixed(0)}${n===3000000?' '+e:''}`);
  }
  console.log(k, out.join(' | '));
}}, 280000);
