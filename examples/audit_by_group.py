"""Does the model treat groups of texts alike? Rates by group, the widest gap first."""

import wfalens as wl
from wfalens import Readable, RNNConfig, extract, load_dataset

train, test = (load_dataset("newsroom", split) for split in ("train", "test"))
model = wl.train(train, config=RNNConfig(embedding=32, hidden=32), epochs=4, learning_rate=5e-3).model
wfa = extract(model, train, Readable())

# a group for every text: here short and long ones; in practice a column of your data (`wfalens evaluate --by COLUMN`)
groups = ["short" if len(text.split()) < 8 else "long" for text in test.texts]
fidelity = wfa.fidelity(model, test, reference=train, groups=groups, group_column="length")
for gap in fidelity.by_group.gaps[:5]:
    print(
        f"{gap.measure} of the {gap.side or 'copy'} for {gap.class_name or 'all classes'}:",
        gap.high,
        "above",
        gap.low,
        "by",
        gap.difference,
    )
