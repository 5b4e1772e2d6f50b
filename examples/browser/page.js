// The page around an exported automaton: the answer, and every word shaded by what it did for it.
const text = document.getElementById('text');

function show() {
  const { label, index, probabilities } = predict(text.value);
  const answer = document.getElementById('answer');
  answer.textContent = index < 0 ? 'undecided' : `${label} (${Math.round(100 * probabilities[index])} %)`;
  const { words, values } = explain(text.value);
  const most = Math.max(1e-9, ...values.flat().map(Math.abs));
  const shown = words.flatMap((word, at) => {
    const value = values[at][Math.max(0, index)],
      mark = document.createElement('mark');
    mark.textContent = word;
    mark.title = value.toFixed(3);
    mark.dataset.value = value;
    mark.style.backgroundColor = `rgba(${value > 0 ? '40,140,60' : '200,60,40'},${Math.abs(value) / most})`;
    return [mark, ' '];
  });
  document.getElementById('words').replaceChildren(...shown);
}

text.addEventListener('input', show);
show();
