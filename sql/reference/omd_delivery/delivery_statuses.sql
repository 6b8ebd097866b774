-- The statuses of deliveries and the changes between them; the facts add those of their layers.

INSERT INTO omd_delivery.delivery_status (layer_code, delivery_status, is_end, status_description)
VALUES
('LVL', 'RECEIVED', FALSE, 'It was announced; its data may still be arriving.'),
('LVL', 'LOADED', FALSE, 'Its data is complete.'),
('LVL', 'VALIDATED', FALSE, 'It is acceptable, and has no effect yet.'),
('LVL', 'ACCEPTED', FALSE, 'LVL has it, and it is queued for the facts.'),
('LVL', 'PERSISTED', TRUE, 'The facts have it.'),
(
    'LVL', 'PERSISTED WITH VIOLATED CONSTRAINTS', TRUE,
    'The facts have it, without what violated a constraint.'
),
('LVL', 'REFUSED', TRUE, 'It exceeded a threshold, or it was overtaken.'),
('LVL', 'REJECTED', TRUE, 'Somebody did not want its data.'),
('LVL', 'CANCELLED', TRUE, 'Somebody did not want the work.'),
('LVL', 'CHECKED', TRUE, 'It was a dry run.'),
('LVL', 'REVERTED', TRUE, 'It was accepted and taken back.')
ON CONFLICT (layer_code, delivery_status) DO UPDATE SET
    is_end = excluded.is_end,
    status_description = excluded.status_description;

INSERT INTO omd_delivery.delivery_transition (layer_code, from_status, to_status, event)
VALUES
('LVL', 'RECEIVED', 'LOADED', 'report_loaded'),
('LVL', 'LOADED', 'LOADED', 'begin_delivery'),
('LVL', 'VALIDATED', 'LOADED', 'begin_delivery'),
('LVL', 'LOADED', 'REFUSED', 'begin_delivery'),
('LVL', 'VALIDATED', 'REFUSED', 'begin_delivery'),
('LVL', 'LOADED', 'VALIDATED', 'stage_verdict'),
('LVL', 'LOADED', 'REFUSED', 'stage_verdict'),
('LVL', 'LOADED', 'CHECKED', 'stage_verdict'),
('LVL', 'VALIDATED', 'ACCEPTED', 'apply_delta'),
('LVL', 'ACCEPTED', 'PERSISTED', 'finish_queue_item'),
('LVL', 'ACCEPTED', 'PERSISTED WITH VIOLATED CONSTRAINTS', 'finish_queue_item'),
('LVL', 'PERSISTED', 'ACCEPTED', 'requeue_item'),
('LVL', 'PERSISTED WITH VIOLATED CONSTRAINTS', 'ACCEPTED', 'requeue_item'),
('LVL', 'RECEIVED', 'REJECTED', 'reject_delivery'),
('LVL', 'LOADED', 'REJECTED', 'reject_delivery'),
('LVL', 'RECEIVED', 'CANCELLED', 'cancel_delivery'),
('LVL', 'LOADED', 'CANCELLED', 'cancel_delivery'),
('LVL', 'VALIDATED', 'CANCELLED', 'cancel_delivery'),
('LVL', 'ACCEPTED', 'REVERTED', 'revert_delivery'),
('LVL', 'ACCEPTED', 'REVERTED', 'take_back')
ON CONFLICT (layer_code, from_status, event, to_status) DO NOTHING;

INSERT INTO omd.reason (reason_code, reason_description)
VALUES
('REJECTED', 'The delivery exceeded a threshold of its validation.'),
('NOT_ALL', 'Another entity of the same delivery could not begin.')
ON CONFLICT (reason_code) DO UPDATE SET reason_description = excluded.reason_description;
