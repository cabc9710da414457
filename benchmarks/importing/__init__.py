"""Files on their way into the database: parse, plan, apply. What a file holds is a format's business."""
