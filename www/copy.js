// Gives each `pre.copy` of the page a button that copies it. Without this file the text can be selected, as any text.

for (const text of document.querySelectorAll('pre.copy')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = 'Selected';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  text.after(button);
}
