-- The statuses of the deliveries of the facts, and the changes between them.

INSERT INTO omd_delivery.delivery_status (layer_code, delivery_status, is_end, status_description)
VALUES
('GDAL', 'RECEIVED', FALSE, 'It was announced.'),
('GDAL', 'PERSISTING', FALSE, 'It is open: rows are written under it.'),
('GDAL', 'PERSISTED', TRUE, 'It was closed.'),
('GDAL', 'CANCELLED', TRUE, 'It was never opened.'),
('EXPORT', 'RECEIVED', FALSE, 'It was ordered.'),
('EXPORT', 'EXPORTED', TRUE, 'Its files are published.'),
('EXPORT', 'CANCELLED', TRUE, 'Somebody did not want it.')
ON CONFLICT (layer_code, delivery_status) DO UPDATE SET
    is_end = excluded.is_end,
    status_description = excluded.status_description;

INSERT INTO omd_delivery.delivery_transition (layer_code, from_status, to_status, event)
VALUES
('GDAL', 'RECEIVED', 'PERSISTING', 'open_delivery'),
('GDAL', 'PERSISTING', 'PERSISTED', 'close_delivery'),
('GDAL', 'RECEIVED', 'CANCELLED', 'cancel_delivery'),
('EXPORT', 'RECEIVED', 'EXPORTED', 'finish_export'),
('EXPORT', 'RECEIVED', 'CANCELLED', 'cancel_export')
ON CONFLICT (layer_code, from_status, event, to_status) DO NOTHING;
