/** The page for viewers without a valid token. It has no script, so that it works everywhere. */
export function loginPage(message: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stowage console: sign in</title>
<link rel="stylesheet" href="/console/assets/style.css">
</head>
<body class="login">
<main>
<h1>Stowage console</h1>
<p role="alert">${escaped(message)}</p>
<form method="post" action="/console/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" required autofocus>
<p class="hint">A bearer token of the cluster, such as the output of <code>kubectl create token NAME -n NAMESPACE</code>.
The console shows what this user may list, and keeps the token in a cookie that scripts can't read.</p>
<button type="submit">Sign in</button>
</form>
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
