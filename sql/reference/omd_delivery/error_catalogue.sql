-- The errors of delivery. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    'OM031', 'UnknownInterface', 'interface "{interface_code}" has no model',
    'SELECT interface_code FROM omd_delivery.interface; or CALL omd_delivery.deploy_model(…);'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
