"""The shell that kinds of label work share: order, time, skipping, flags. It knows no label."""
