"""Files in and out: read, checked, compared with the database, applied; what they hold is a format's business."""
