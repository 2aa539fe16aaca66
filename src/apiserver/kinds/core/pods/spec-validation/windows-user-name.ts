import { utf8Length } from '../../../../../kube/go/quote.ts';

/** Problems of a user name such as `DOMAIN\user`; the domain is optional. */
export function userNameProblems(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [domain, user = ''] = parts.length === 2 ? parts : [undefined, name];
  return [...(domain === undefined ? [] : domainProblems(domain)), ...userProblems(user)];
}

const domainBytesMax = 256;
const userBytesMax = 104;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);

function domainProblems(domain: string): readonly string[] {
  const problems: string[] = [];
  if (utf8Length(domain) >= domainBytesMax) {
    problems.push(`runAsUserName's Domain length must be under ${domainBytesMax} characters`);
  }
  if (!netBiosName.test(domain) && !dnsName.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  return problems;
}

function userProblems(user: string): readonly string[] {
  const problems: string[] = [];
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (utf8Length(user) > userBytesMax) {
    problems.push(`runAsUserName's User length must not be longer than ${userBytesMax} characters`);
  }
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return problems;
}
